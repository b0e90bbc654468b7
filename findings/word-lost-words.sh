#!/usr/bin/env bash
# Words of a Word document that readers for models leave out, each other ones. officeparser 8.1.1 drops symbols that Word inserts by Insert > Symbol
# (`w:sym`), without a warning: "≤ 5 bar" becomes "5 bar", "10 ± 2" becomes "10 2", and of a form with boxes nothing says which one is ticked. mammoth
# 1.13.0 has them, and drops equations, the values of simple fields (totals, names and dates of mail merges), words in a direction of their own, and,
# as officeparser does, Japanese words that have a reading above them: 東京へ行く becomes へ行く. It says so in `messages` ("An unrecognised element was
# ignored"), which most callers do not read; markitdown-ts 0.0.10, built on it, says nothing. So look into the messages, and for `w:sym` and `w:ruby`
# in the XML, before you trust a text.
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

const schemas = 'http://schemas.openxmlformats.org';
const run = (xml) => `<w:r>${xml}</w:r>`;
const text = (words) => run(`<w:t xml:space="preserve">${words}</w:t>`);
const symbol = (font, code) => run(`<w:sym w:font="${font}" w:char="${code}"/>`);
const paragraphs = {
  'a symbol': [text('pressure ') + symbol('Symbol', 'F0A3') + text(' 5 bar'), '≤'],
  'a ticked box': [`${symbol('Wingdings', 'F0FE')}${text(' yes ')}${symbol('Wingdings', 'F0A8')}${text(' no')}`, '🗹'],
  'an equation': [`${text('load ')}<m:oMath><m:r><m:t>F=12</m:t></m:r></m:oMath>${text(' kN')}`, 'F=12'],
  'a simple field': [`${text('Total: ')}<w:fldSimple w:instr=" DOCPROPERTY Total ">${text('1250')}</w:fldSimple>`, '1250'],
  'words from right to left': [`<w:dir w:val="rtl">${text('سعر')}</w:dir>${text(' 5')}`, 'سعر'],
  'a word with a reading': [run(`<w:ruby><w:rt>${text('とうきょう')}</w:rt><w:rubyBase>${text('東京')}</w:rubyBase></w:ruby>`) + text('へ行く'), '東京'],
  'a complex field': [`${run('<w:fldChar w:fldCharType="begin"/>')}${run('<w:instrText> DATE </w:instrText>')}${run('<w:fldChar w:fldCharType="separate"/>')}${text('1 May')}${run('<w:fldChar w:fldCharType="end"/>')}`, '1 May'],
};
async function toDocument(xml) {
  const zip = new JSZip();
  const type = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
  const office = `${schemas}/officeDocument/2006`;
  zip.file('[Content_Types].xml', `<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${type}"/></Types>`);
  zip.file('_rels/.rels', `<Relationships xmlns="${schemas}/package/2006/relationships"><Relationship Id="r1" Type="${office}/relationships/officeDocument" Target="word/document.xml"/></Relationships>`);
  zip.file('word/document.xml', `<w:document xmlns:w="${schemas}/wordprocessingml/2006/main" xmlns:m="${office}/math"><w:body><w:p>${xml}</w:p></w:body></w:document>`);
  return zip.generateAsync({ type: 'nodebuffer' });
}
const seen = [];
for (const [name, [xml, words]] of Object.entries(paragraphs)) {
  const buffer = await toDocument(xml);
  const html = await mammoth.convertToHtml({ buffer });
  const office = await parseOffice(buffer);
  const { markdown } = await new MarkItDown().convertBuffer(buffer, { file_extension: '.docx' });
  const found = [html.value, markdown, (await office.to('md')).value].map((given) => (given.includes(words) ? 'there' : 'missing'));
  console.log(`${name}: mammoth ${found[0]} (${html.messages.length} messages), markitdown-ts ${found[1]}, officeparser ${found[2]} (${office.warnings.length} warnings)`);
  seen.push(`${found.join(' ')} ${html.messages.length} ${office.warnings.length}`);
}
const [symbols, ignored, reading] = ['there there missing 0 0', 'missing missing there 1 0', 'missing missing missing 1 0'];
if (seen.join('\n') !== [symbols, symbols, ignored, ignored, ignored, reading, 'there there there 0 0'].join('\n')) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in mammoth markitdown-ts officeparser; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   a symbol: mammoth there (0 messages), markitdown-ts there, officeparser missing (0 warnings)
#   a ticked box: mammoth there (0 messages), markitdown-ts there, officeparser missing (0 warnings)
#   an equation: mammoth missing (1 messages), markitdown-ts missing, officeparser there (0 warnings)
#   a simple field: mammoth missing (1 messages), markitdown-ts missing, officeparser there (0 warnings)
#   words from right to left: mammoth missing (1 messages), markitdown-ts missing, officeparser there (0 warnings)
#   a word with a reading: mammoth missing (1 messages), markitdown-ts missing, officeparser missing (0 warnings)
#   a complex field: mammoth there (0 messages), markitdown-ts there, officeparser there (0 warnings)
