#!/usr/bin/env bash
# What turns web pages and Word documents into text for models changes numbers without a word. turndown 7.2.5, html-to-text 10.0.1 and node-html-markdown
# 2.0.0, mammoth 1.13.0 (`extractRawText`) and officeparser 8.1.1 write a raised figure as one more digit: "10⁶ grains" becomes 106 grains, and a price
# with a footnote, "1,250¹ crowns", becomes 1,2501 crowns. officeparser drops the hyphen that does not break: "5‑7 days" becomes 57 days.
# turndown and html-to-text drop what strikes a text out, so an old price stands beside the new one. So ask for HTML from mammoth and write out
# <sup> and <s> yourself before you convert: turndown takes rules (`addRule`), html-to-text formatters; neither has one for these elements.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --ignore-scripts turndown@7.2.5 html-to-text@10.0.1 node-html-markdown@2.0.0 mammoth@1.13.0 officeparser@8.1.1 yazl@3.3.1 >/dev/null
cat >probe.mjs <<'JS'
import { convert } from 'html-to-text';
import mammoth from 'mammoth';
import { NodeHtmlMarkdown } from 'node-html-markdown';
import { OfficeParser } from 'officeparser';
import TurndownService from 'turndown';
import yazl from 'yazl';

const html = '<p>10<sup>6</sup> grains cost 1,250<sup>1</sup> crowns, <s>1,300</s> before, in 5\u20117 days</p>';
const run = (text, properties = '') => `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const raised = (text) => run(text, '<w:vertAlign w:val="superscript"/>');
const words = [run('10'), raised('6'), run(' grains cost 1,250'), raised('1'), run(' crowns, '), run('1,300', '<w:strike/>'), run(' before, in 5')];
const paragraph = `<w:p>${words.join('')}<w:r><w:noBreakHyphen/><w:t xml:space="preserve">7 days</w:t></w:r></w:p>`;
const open = 'http://schemas.openxmlformats.org';
const main = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const parts = {
  '[Content_Types].xml': `<Types xmlns="${open}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${open}/package/2006/relationships"><Relationship Id="r" Type="${open}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
  'word/document.xml': `<w:document xmlns:w="${open}/wordprocessingml/2006/main"><w:body>${paragraph}</w:body></w:document>`,
};
const archive = new yazl.ZipFile();
for (const [name, content] of Object.entries(parts)) archive.addBuffer(Buffer.from(content), name);
archive.end();
const word = Buffer.concat(await archive.outputStream.toArray());

const seen = {
  turndown: new TurndownService().turndown(html),
  'html-to-text': convert(html, { wordwrap: false }),
  'node-html-markdown': NodeHtmlMarkdown.translate(html),
  'mammoth, raw text': (await mammoth.extractRawText({ buffer: word })).value.trim(),
  officeparser: (await (await OfficeParser.parseOffice(word)).to('text')).value.trim(),
};
const line = (hyphen, price = '1,300') => `106 grains cost 1,2501 crowns, ${price} before, in 5${hyphen}7 days`;
for (const [name, text] of Object.entries(seen)) console.log(`${name}: ${text}`);
const expected = [line('\u2011'), line('\u2011'), line('\u2011', '~~1,300~~'), line('\u2011'), line('')];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in turndown html-to-text node-html-markdown mammoth officeparser; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   turndown: 106 grains cost 1,2501 crowns, 1,300 before, in 5‑7 days
#   html-to-text: 106 grains cost 1,2501 crowns, 1,300 before, in 5‑7 days
#   node-html-markdown: 106 grains cost 1,2501 crowns, ~~1,300~~ before, in 5‑7 days
#   mammoth, raw text: 106 grains cost 1,2501 crowns, 1,300 before, in 5‑7 days
#   officeparser: 106 grains cost 1,2501 crowns, 1,300 before, in 57 days
