#!/usr/bin/env bash
# @llamaindex/liteparse-wasm 2.14.7: characters of a PDF beyond U+FFFF (slanted letters of formulas, emoji, rare Chinese characters) are in none of its
# outputs, and nothing says so: neither the text, nor the Markdown, nor the text items, nor a mark in their place. "the voltage 𝑉 must be lower" loses
# its subject. pdf.js 5 gives them for the same file. So whoever indexes papers made with Word needs a second reader, or loses each formula's letters.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @llamaindex/liteparse-wasm@2.14.7 unpdf@1.8.1 >/dev/null
cat >probe.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import initialize, { LiteParse } from '@llamaindex/liteparse-wasm';
import { getDocumentProxy } from 'unpdf';

// One page; its font says that the code of `V` is the character U+1D449, in UTF-16BE as the format asks for.
const stream = (text) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const objects = [
  '<< /Type /Catalog /Pages 2 0 R >>',
  '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
  stream('BT /F1 12 Tf 40 100 Td (the voltage V must be lower) Tj ET'),
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>',
  stream(
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /T def /CMapType 2 def ' +
      '1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <56> <D835DC49> endbfchar ' +
      'endcmap CMapName currentdict /CMap defineresource pop end end',
  ),
];
let pdf = '%PDF-1.7\n';
const offsets = objects.map((object, index) => {
  const offset = pdf.length;
  pdf += `${index + 1} 0 obj\n${object}\nendobj\n`;
  return `${String(offset).padStart(10, '0')} 00000 n \n`;
});
pdf += `xref\n0 7\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size 7 /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`;
const bytes = new Uint8Array(Buffer.from(pdf, 'latin1'));

await initialize({
  module_or_path: readFileSync(createRequire(import.meta.url).resolve('@llamaindex/liteparse-wasm/liteparse_wasm_bg.wasm')),
});
const [page] = (await new LiteParse({ ocrEnabled: false, outputFormat: 'markdown', quiet: true }).parse(bytes)).pages;
const document = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
const other = (await (await document.getPage(1)).getTextContent()).items.map(({ str }) => str).join('');
const items = page.textItems.map(({ text }) => text).join(' ');
console.log(JSON.stringify({ liteparse: page.markdown.trim(), items, pdfjs: other }));
const isMissing = [page.markdown, page.text, items].every((text) => !/\u{1D449}|\uFFFD/u.test(text));
if (!isMissing || other !== 'the voltage \u{1D449} must be lower') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
echo "@llamaindex/liteparse-wasm $(node -p "require('./node_modules/@llamaindex/liteparse-wasm/package.json').version")"
node probe.mjs
# Seen:
#   @llamaindex/liteparse-wasm 2.14.7
#   {"liteparse":"the voltage must be lower","items":"the voltage must be lower","pdfjs":"the voltage 𝑉 must be lower"}
