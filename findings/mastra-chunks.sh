#!/usr/bin/env bash
# Three ways of chunking of @mastra/rag 2.6.4 lose or repeat text, without an error. "html" leaves out what stands before the first heading, and gives
# what is nested once for each element around it: a list item four times. "token" cuts between the bytes of a character, so Chinese and emoji become
# marks of replacement, which no search finds. "character" with a separator of its own does not join what fits: ten words of which three fit into a
# chunk make ten chunks. The documentation promises chunks of at most `maxSize`. "recursive" and "markdown" keep each word once. So turn HTML into
# Markdown before chunking, and look for text that is missing before indexing.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @mastra/rag@2.6.4 @mastra/core@1.71.0 >/dev/null
cat >probe.mjs <<'JS'
import { MDocument } from '@mastra/rag';

const page = '<body><p>Before.</p><h1>One</h1><p>Text.</p><div><ul><li>Item</li></ul></div></body>';
const mixed = '電圧 😀 und mehr 電圧電圧 😀😀';
const words = 'one two three four five six seven eight nine ten';
const texts = async (document, options) => (await document.chunk(options)).map(({ text }) => text);
const seen = {
  html: await texts(MDocument.fromHTML(page), { strategy: 'html', headers: [['h1', 'title']] }),
  token: await texts(MDocument.fromText(mixed), { strategy: 'token', maxSize: 3, overlap: 0 }),
  character: await texts(MDocument.fromText(words), { strategy: 'character', separator: ' ', maxSize: 15, overlap: 0 }),
  recursive: await texts(MDocument.fromText(words), { strategy: 'recursive', separators: [' '], maxSize: 15, overlap: 0 }),
};
for (const [name, chunks] of Object.entries(seen)) console.log(`${name}: ${JSON.stringify(chunks)}`);
const isAsStated =
  !seen.html.join(' ').includes('Before') &&
  seen.html.join(' ').split('Item').length - 1 === 4 &&
  seen.token.join('').includes('\ufffd') &&
  seen.token.join('').split('圧').length - 1 < 3 &&
  seen.character.length === 10 &&
  seen.recursive.length < 10 &&
  seen.recursive.join(' ') === words;
if (!isAsStated) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @mastra/rag @mastra/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   html: ["Text. Text. Item Item Item Item"]
#   token: ["電\ufffd","\ufffd 😀 und","mehr \ufffd","\ufffd圧","電\ufffd","\ufffd 😀\ufffd","\ufffd"]
#   character: ["one","two","three","four","five","six","seven","eight","nine","ten"]
#   recursive: ["one two three","four five six","seven eight","nine ten"]
