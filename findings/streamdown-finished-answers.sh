#!/usr/bin/env bash
# streamdown 2.7.1, which shows answers of models in React, changes answers that are finished. To show half a mark while it is written, it completes what
# looks open at the end of the text, and goes on doing so when nothing more comes: with its defaults, and with `isAnimating={false}`. "Set x <y and go on."
# is shown as "Set x": the rest is taken for the beginning of a tag. "2**10 is 1024." becomes a bold "10 is 1024.", `src/**/x.ts` loses its asterisks,
# "the interval [0, 1)" becomes a link to nowhere, and of "def f(*args)" the asterisk is gone. By CommonMark all of them are plain text, and so
# `mode="static"` shows them. Nothing tells which words a reader did not get. The package's README does not say that a finished text is completed too.
# So give `mode="static"`, or `parseIncompleteMarkdown={false}`, as soon as the answer is whole.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund streamdown@2.7.1 react@19.2.0 react-dom@19.2.0 >/dev/null
cat >probe.mjs <<'JS'
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Streamdown } from 'streamdown';

const answers = ['Set x <y and go on.', 'In Python, 2**10 is 1024.', 'Copy src/**/x.ts', 'The interval [0, 1) is half open.', 'Write def f(*args).'];
const ways = { 'defaults': {}, 'isAnimating={false}': { isAnimating: false }, 'mode="static"': { mode: 'static' }, 'parseIncompleteMarkdown={false}': { parseIncompleteMarkdown: false } };
const entities = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
const toText = (html) => html.replace(/<[^>]*>/g, '').replace(/&lt;|&gt;|&amp;/g, (entity) => entities[entity]);
const seen = [];
for (const [way, properties] of Object.entries(ways)) {
  for (const answer of answers) {
    const html = renderToStaticMarkup(createElement(Streamdown, properties, answer));
    const link = /<button/.test(html) ? ', with a link' : '';
    seen.push(`${toText(html)}${link}`);
    console.log(`${way}: "${answer}" is shown as "${toText(html)}"${link}`);
  }
}
const changed = ['Set x', 'In Python, 210 is 1024.', 'Copy src//x.ts', 'The interval 0, 1) is half open., with a link', 'Write def f(args).'];
if (JSON.stringify(seen) !== JSON.stringify([...changed, ...changed, ...answers, ...answers])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in streamdown; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   defaults: "Set x <y and go on." is shown as "Set x"
#   defaults: "In Python, 2**10 is 1024." is shown as "In Python, 210 is 1024."
#   defaults: "Copy src/**/x.ts" is shown as "Copy src//x.ts"
#   defaults: "The interval [0, 1) is half open." is shown as "The interval 0, 1) is half open.", with a link
#   defaults: "Write def f(*args)." is shown as "Write def f(args)."
#   isAnimating={false}: "Set x <y and go on." is shown as "Set x"
#   isAnimating={false}: "In Python, 2**10 is 1024." is shown as "In Python, 210 is 1024."
#   isAnimating={false}: "Copy src/**/x.ts" is shown as "Copy src//x.ts"
#   isAnimating={false}: "The interval [0, 1) is half open." is shown as "The interval 0, 1) is half open.", with a link
#   isAnimating={false}: "Write def f(*args)." is shown as "Write def f(args)."
#   mode="static": "Set x <y and go on." is shown as "Set x <y and go on."
#   mode="static": "In Python, 2**10 is 1024." is shown as "In Python, 2**10 is 1024."
#   mode="static": "Copy src/**/x.ts" is shown as "Copy src/**/x.ts"
#   mode="static": "The interval [0, 1) is half open." is shown as "The interval [0, 1) is half open."
#   mode="static": "Write def f(*args)." is shown as "Write def f(*args)."
#   parseIncompleteMarkdown={false}: "Set x <y and go on." is shown as "Set x <y and go on."
#   parseIncompleteMarkdown={false}: "In Python, 2**10 is 1024." is shown as "In Python, 2**10 is 1024."
#   parseIncompleteMarkdown={false}: "Copy src/**/x.ts" is shown as "Copy src/**/x.ts"
#   parseIncompleteMarkdown={false}: "The interval [0, 1) is half open." is shown as "The interval [0, 1) is half open."
#   parseIncompleteMarkdown={false}: "Write def f(*args)." is shown as "Write def f(*args)."
