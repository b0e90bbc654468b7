#!/usr/bin/env bash
# Tables of web pages as Markdown, which is how pages reach models: values come under another head than on the page, without an error.
# node-html-markdown 2.0.0 and html-to-md 0.8.8 take no notice of merged cells: below a plan that spans two rows, the second year stands under "Plan"
# and its price under "Year"; beside a head that spans two columns, the next head moves. defuddle 0.19.4 keeps a table with merged cells as HTML, but
# drops a list in a cell, so the next cell moves into its place: the price becomes the plan. node-html-markdown joins the items of such a list into
# one word. rehype-remark 10.0.1 leaves merged places empty, and breaks a row in two at a list. turndown has no tables at all without a plugin.
# So write out merged cells, and join lists with commas, before you convert.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-html-markdown@2.0.0 html-to-md@0.8.8 defuddle@0.19.4 linkedom@0.18.15 \
  unified@11.0.5 rehype-parse@9.0.1 rehype-remark@10.0.1 remark-gfm@4.0.1 remark-stringify@11.0.0 >/dev/null
cat >probe.mjs <<'JS'
import { Defuddle } from 'defuddle/node';
import htmlToMd from 'html-to-md';
import { parseHTML } from 'linkedom';
import { NodeHtmlMarkdown } from 'node-html-markdown';
import rehypeParse from 'rehype-parse';
import rehypeRemark from 'rehype-remark';
import remarkGfm from 'remark-gfm';
import remarkStringify from 'remark-stringify';
import { unified } from 'unified';

const row = (tag, ...cells) => `<tr>${cells.map((cell) => (cell.startsWith('<t') ? cell : `<${tag}>${cell}</${tag}>`)).join('')}</tr>`;
const tables = {
  'a cell over two rows': `${row('th', 'Plan', 'Year', 'Price')}${row('td', '<td rowspan="2">Basic</td>', '2025', '10')}${row('td', '2026', '12')}`,
  'a head over two columns': `${row('th', 'Plan', '<th colspan="2">Price</th>', 'Limit')}${row('td', 'Basic', '10', '12', '99')}`,
  'a list in a cell': `${row('th', 'Parts', 'Price')}${row('td', '<ul><li>oak</li><li>ash</li></ul>', '10')}`,
};
const words = '<p>This paragraph makes the page long enough for a reader that looks for the main part of a page.</p>'.repeat(4);
const converters = {
  'node-html-markdown': (html) => NodeHtmlMarkdown.translate(html),
  'html-to-md': (html) => htmlToMd(html),
  async defuddle(html) {
    const { document } = parseHTML(`<html><head><title>T</title></head><body><article><h1>T</h1>${words}${html}</article></body></html>`);
    return (await Defuddle(document, 'https://page.example/', { markdown: true })).content;
  },
  'rehype-remark': async (html) =>
    String(await unified().use(rehypeParse).use(rehypeRemark).use(remarkGfm).use(remarkStringify).process(html)),
};
/** The lines of the table, without the line below the head, and without white space that only pads. */
function rows(markdown) {
  const lines = markdown.split('\n').filter((line) => /[|<]|^\*/.test(line) && !/^[|\s:-]+$/.test(line));
  return lines.map((line) => line.replaceAll(/ *\| */g, '|').trim()).join(' / ');
}
const seen = [];
for (const [name, convert] of Object.entries(converters)) {
  for (const [what, table] of Object.entries(tables)) {
    const found = rows(await convert(`<table>${table}</table>`));
    console.log(`${name}, ${what}: ${found.startsWith('<') ? 'stays HTML' : found}`);
    seen.push(found.startsWith('<') ? 'HTML' : found);
  }
}
const expected = [
  '|Plan|Year|Price| / |Basic|2025|10| / |2026|12||',
  '|Plan|Price|Limit|| / |Basic|10|12|99|',
  '|Parts|Price| / |oakash|10|',
  '|Plan|Year|Price| / |Basic|2025|10| / |2026|12|',
  '|Plan|Price|Limit| / |Basic|10|12|99|',
  '|Parts|Price| / |<ul><li>oak</li><li>ash</li></ul>|10|',
  'HTML',
  'HTML',
  '|Parts|Price| / |10||',
  '|Plan|Year|Price| / |Basic|2025|10| / ||2026|12|',
  '|Plan|Price||Limit| / |Basic|10|12|99|',
  '|Parts|Price| / |* oak / * ash|10|',
];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in node-html-markdown html-to-md defuddle rehype-remark; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   node-html-markdown, a cell over two rows: |Plan|Year|Price| / |Basic|2025|10| / |2026|12||
#   node-html-markdown, a head over two columns: |Plan|Price|Limit|| / |Basic|10|12|99|
#   node-html-markdown, a list in a cell: |Parts|Price| / |oakash|10|
#   html-to-md, a cell over two rows: |Plan|Year|Price| / |Basic|2025|10| / |2026|12|
#   html-to-md, a head over two columns: |Plan|Price|Limit| / |Basic|10|12|99|
#   html-to-md, a list in a cell: |Parts|Price| / |<ul><li>oak</li><li>ash</li></ul>|10|
#   defuddle, a cell over two rows: stays HTML
#   defuddle, a head over two columns: stays HTML
#   defuddle, a list in a cell: |Parts|Price| / |10||
#   rehype-remark, a cell over two rows: |Plan|Year|Price| / |Basic|2025|10| / ||2026|12|
#   rehype-remark, a head over two columns: |Plan|Price||Limit| / |Basic|10|12|99|
#   rehype-remark, a list in a cell: |Parts|Price| / |* oak / * ash|10|
