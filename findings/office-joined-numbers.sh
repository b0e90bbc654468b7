#!/usr/bin/env bash
# Two numbers become one where readers for models take a break or a hyphen of Office for nothing, without an error or a warning. officeparser 8.1.1 joins the
# lines of a cell of a PowerPoint table (Shift+Enter, `a:br`): a cell of 2024 and 2025 is "20242025" in its text, Markdown and HTML, though the same break
# outside a table, and in a table of Word, divides. It also drops Word's hyphen that does not break (Ctrl+Shift+Hyphen, `w:noBreakHyphen`), which offices
# use in ranges, file numbers and telephone numbers: "5-10 mg" becomes "510 mg". mammoth 1.13.0 has that hyphen, and its `extractRawText` drops line breaks:
# "2024" above "2025" is "20242025"; `convertToHtml` keeps them. So take HTML from mammoth, and of slides read cells yourself where numbers count.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund mammoth@1.13.0 officeparser@8.1.1 jszip@3.10.2 >/dev/null
cat >probe.mjs <<'JS'
import JSZip from 'jszip';
import mammoth from 'mammoth';
import { parseOffice } from 'officeparser';

const schemas = 'http://schemas.openxmlformats.org';
const office = `${schemas}/officeDocument/2006`;
async function toPackage(main, mainType, parts) {
  const zip = new JSZip();
  const types = Object.entries({ [main]: mainType, ...parts.types }).map(([path, type]) => `<Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`);
  zip.file('[Content_Types].xml', `<Types xmlns="${schemas}/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${types.join('')}</Types>`);
  zip.file('_rels/.rels', relations({ r1: ['officeDocument', main] }));
  for (const [path, xml] of Object.entries(parts.files)) zip.file(path, xml);
  return zip.generateAsync({ type: 'nodebuffer' });
}
const relations = (all) => `<Relationships xmlns="${schemas}/package/2006/relationships">${Object.entries(all).map(([id, [type, target]]) => `<Relationship Id="${id}" Type="${office}/relationships/${type}" Target="${target}"/>`).join('')}</Relationships>`;

const run = (text) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraphs = `<w:p>${run('5')}<w:r><w:noBreakHyphen/></w:r>${run('10 mg')}</w:p><w:p>${run('2024')}<w:r><w:br/></w:r>${run('2025')}</w:p>`;
const word = await toPackage('word/document.xml', 'wordprocessingml.document.main', {
  files: { 'word/document.xml': `<w:document xmlns:w="${schemas}/wordprocessingml/2006/main"><w:body>${paragraphs}</w:body></w:document>` },
});

const words = (text) => `<a:r><a:t>${text}</a:t></a:r>`;
const lines = `<a:p>${words('2024')}<a:br/>${words('2025')}</a:p>`;
const frame = (id) => `<p:cNvPr id="${id}" name="n"/>`;
const box = `<p:sp><p:nvSpPr>${frame(2)}<p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>${lines}</p:txBody></p:sp>`;
const table = `<p:graphicFrame><p:nvGraphicFramePr>${frame(3)}<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/></p:xfrm><a:graphic><a:graphicData uri="${schemas}/drawingml/2006/table"><a:tbl><a:tblGrid><a:gridCol w="1"/></a:tblGrid><a:tr h="1"><a:tc><a:txBody><a:bodyPr/>${lines}</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`;
const spaces = `xmlns:p="${schemas}/presentationml/2006/main" xmlns:a="${schemas}/drawingml/2006/main" xmlns:r="${office}/relationships"`;
const slide = (shape) => `<p:sld ${spaces}><p:cSld><p:spTree><p:nvGrpSpPr>${frame(1)}<p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>${shape}</p:spTree></p:cSld></p:sld>`;
const deckOf = (shape) =>
  toPackage('ppt/presentation.xml', 'presentationml.presentation.main', {
    types: { 'ppt/slides/slide1.xml': 'presentationml.slide' },
    files: {
      'ppt/presentation.xml': `<p:presentation ${spaces}><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>`,
      'ppt/_rels/presentation.xml.rels': relations({ r1: ['slide', 'slides/slide1.xml'] }),
      'ppt/slides/slide1.xml': slide(shape),
    },
  });
const read = async (bytes, fileType, form) => (await (await parseOffice(bytes, { fileType })).to(form)).value;
const holds = (text) => ['20242025', '510 mg'].filter((joined) => text.includes(joined)).join(' and ') || 'nothing joined';
const seen = {
  'officeparser, a text box of a slide': holds(await read(await deckOf(box), 'pptx', 'text')),
  'officeparser, a cell of a slide, text': holds(await read(await deckOf(table), 'pptx', 'text')),
  'officeparser, a cell of a slide, Markdown': holds(await read(await deckOf(table), 'pptx', 'md')),
  'officeparser, a cell of a slide, HTML': holds(await read(await deckOf(table), 'pptx', 'html')),
  'officeparser, Word': holds(await read(word, 'docx', 'text')),
  'mammoth extractRawText': holds((await mammoth.extractRawText({ buffer: word })).value),
  'mammoth convertToHtml': holds((await mammoth.convertToHtml({ buffer: word })).value),
};
for (const [what, joined] of Object.entries(seen)) console.log(`${what}: ${joined}`);
const stated = ['nothing joined', '20242025', '20242025', '20242025', '510 mg', '20242025', 'nothing joined'];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(stated)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in officeparser mammoth; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   officeparser 8.1.1
#   mammoth 1.13.0
#   officeparser, a text box of a slide: nothing joined
#   officeparser, a cell of a slide, text: 20242025
#   officeparser, a cell of a slide, Markdown: 20242025
#   officeparser, a cell of a slide, HTML: 20242025
#   officeparser, Word: 510 mg
#   mammoth extractRawText: 20242025
#   mammoth convertToHtml: nothing joined
