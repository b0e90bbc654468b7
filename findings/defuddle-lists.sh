#!/usr/bin/env bash
# defuddle 0.19.4, which takes the article out of a web page for models and notes (Obsidian's clipper, fetch tools), leaves out short lists of the article
# itself, without a word in its result. A list of steps, of prices or of terms (`dl`) that stands between two paragraphs is taken for clutter unless the line
# before it ends with a colon or is a heading: "Unplug the lamp. Open the lid." is gone, and so are "Basic: 9 a month", "Notice period: thirty days" and
# a line "Updated on 5 March 2026". The same page is whole by @mozilla/readability 0.6.0. So a model answers from an instruction without its steps. With
# `removeContentPatterns: false` the lists stay; the date stays away.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund defuddle@0.19.4 linkedom@0.18.15 @mozilla/readability@0.6.0 >/dev/null
cat >probe.mjs <<'JS'
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { parseHTML } from 'linkedom';

const paragraph = (count) => `<p>${'This page explains how a lamp of the house is looked after, and what people pay for it each month. '.repeat(count)}</p>`;
const page = (content) => `<!doctype html><html><head><title>Lamps</title></head><body><main><article><h1>Lamps</h1>${paragraph(4)}${content}${paragraph(3)}</article></main></body></html>`;
const steps = '<ol><li>Unplug the lamp</li><li>Open the lid</li><li>Change the bulb</li></ol>';
const cases = {
  'steps': [steps, 'Open the lid'],
  'steps behind a colon': [`<p>Do this:</p>${steps}`, 'Open the lid'],
  'steps below a heading': [`<h2>Steps</h2>${steps}`, 'Open the lid'],
  'prices': ['<ul><li>Basic: 9 a month</li><li>Plus: 19 a month</li></ul>', 'Basic: 9 a month'],
  'terms': ['<dl><dt>Notice period</dt><dd>Thirty days</dd><dt>Deposit</dt><dd>200</dd></dl>', 'Thirty days'],
  'a date': ['<p>Updated on 5 March 2026</p>', 'March 2026'],
};
const kept = (text, words) => (text.includes(words) ? 'there' : 'missing');
const byDefuddle = async (html, options) => (await Defuddle(parseHTML(html).document, 'https://site.example/', options)).content;
const all = { removeContentPatterns: false };
const seen = [];
for (const [name, [content, words]] of Object.entries(cases)) {
  const html = page(content);
  const article = new Readability(parseHTML(html).document).parse();
  const found = [await byDefuddle(html, {}), await byDefuddle(html, all), article.content].map((text) => kept(text, words));
  console.log(`${name}: defuddle ${found[0]}, with the option ${found[1]}, readability ${found[2]}`);
  seen.push(found.join(' '));
}
const stated = ['missing there there', 'there there there', 'there there there', 'missing there there', 'missing there there', 'missing missing there'];
if (JSON.stringify(seen) !== JSON.stringify(stated)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in defuddle @mozilla/readability; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   defuddle 0.19.4
#   @mozilla/readability 0.6.0
#   steps: defuddle missing, with the option there, readability there
#   steps behind a colon: defuddle there, with the option there, readability there
#   steps below a heading: defuddle there, with the option there, readability there
#   prices: defuddle missing, with the option there, readability there
#   terms: defuddle missing, with the option there, readability there
#   a date: defuddle missing, with the option missing, readability there
