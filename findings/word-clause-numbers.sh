#!/usr/bin/env bash
# Numbers of clauses in Word documents: Word numbers paragraphs itself, and the file holds only the rule. A contract of "§ 7" with "(a)" below, an
# ordinary paragraph, and "§ 8": mammoth 1.13.0 (HTML) and markitdown-ts 0.0.10, which is built on it, begin each list with 1 and so call both clauses 1;
# `extractRawText` gives none. officeparser 8.1.1 counts right and writes 7, 1 and 8, so "(a)" is a 1 as well. None raises an error or a warning;
# the documentation of mammoth names lists as supported. So an agent that answers "by clause 1" names another clause than the one that people see,
# and "see § 8" leads nowhere: count the numbers from word/numbering.xml, or print to PDF first.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mammoth@1.13.0 markitdown-ts@0.0.10 officeparser@8.1.1 jszip@3.10.2 >/dev/null
cat >probe.mjs <<'JS'
import JSZip from 'jszip';
import mammoth from 'mammoth';
import { MarkItDown } from 'markitdown-ts';
import { parseOffice } from 'officeparser';

const main = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const relation = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const types = 'application/vnd.openxmlformats-officedocument.wordprocessingml';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const paragraph = (text, level) => {
  const numbered = level === undefined ? '' : `<w:pPr><w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr></w:pPr>`;
  return `<w:p>${numbered}<w:r><w:t>${text}</w:t></w:r></w:p>`;
};
const level = (id, start, format, text) =>
  `<w:lvl w:ilvl="${id}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
const body = [paragraph('Payment', 0), paragraph('by card', 1), paragraph('An ordinary paragraph.'), paragraph('Notice', 0)].join('');
const zip = new JSZip();
const part = (path, type) => `<Override PartName="/word/${path}.xml" ContentType="${types}.${type}+xml"/>`;
const files = {
  '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${part('document', 'document.main')}${part('numbering', 'numbering')}</Types>`,
  '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${relation}/officeDocument" Target="word/document.xml"/></Relationships>`,
  'word/_rels/document.xml.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="r1" Type="${relation}/numbering" Target="numbering.xml"/></Relationships>`,
  'word/document.xml': `<w:document xmlns:w="${main}"><w:body>${body}</w:body></w:document>`,
  'word/numbering.xml': `<w:numbering xmlns:w="${main}"><w:abstractNum w:abstractNumId="0">${level(0, 7, 'decimal', '§ %1')}${level(1, 1, 'lowerLetter', '(%2)')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
};
for (const [path, xml] of Object.entries(files)) zip.file(path, `<?xml version="1.0" encoding="UTF-8"?>${xml}`);
const buffer = await zip.generateAsync({ type: 'nodebuffer' });

const html = await mammoth.convertToHtml({ buffer });
const office = await parseOffice(buffer);
const given = {
  'mammoth, HTML': html.value,
  'mammoth, text': (await mammoth.extractRawText({ buffer })).value,
  'markitdown-ts': (await new MarkItDown().convertBuffer(buffer, { file_extension: '.docx' })).markdown,
  officeparser: (await office.to('md')).value,
};
const seen = Object.values(given).map((text) => text.replaceAll(/\s+/g, ' ').trim());
for (const [index, name] of Object.keys(given).entries()) console.log(`${name}: ${seen[index]}`);
console.log(`messages of mammoth: ${html.messages.length}, warnings of officeparser: ${office.warnings.length}`);
const expected = [
  '<ol><li>Payment<ol><li>by card</li></ol></li></ol><p>An ordinary paragraph.</p><ol><li>Notice</li></ol>',
  'Payment by card An ordinary paragraph. Notice',
  '1. Payment 1. by card An ordinary paragraph. 1. Notice',
  '7. Payment 1. by card An ordinary paragraph. 8. Notice',
];
if (JSON.stringify(seen) !== JSON.stringify(expected) || html.messages.length + office.warnings.length > 0) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in mammoth markitdown-ts officeparser; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   mammoth, HTML: <ol><li>Payment<ol><li>by card</li></ol></li></ol><p>An ordinary paragraph.</p><ol><li>Notice</li></ol>
#   mammoth, text: Payment by card An ordinary paragraph. Notice
#   markitdown-ts: 1. Payment 1. by card An ordinary paragraph. 1. Notice
#   officeparser: 7. Payment 1. by card An ordinary paragraph. 8. Notice
#   messages of mammoth: 0, warnings of officeparser: 0
