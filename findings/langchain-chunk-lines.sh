#!/usr/bin/env bash
# @langchain/textsplitters 1.0.2: the lines that `createDocuments` gives for a chunk (`metadata.loc.lines`) are those of an earlier place where the same
# words stand, where a text repeats itself, as logs, forms and licences do: the last line of a file of seven is said to be the third. So a citation by
# these lines opens the wrong place. And a splitter for Python takes the indentation of a chunk's first line away and keeps that of the others, so a
# method of a class reads as a function of its own. Neither raises an error: keep offsets yourself where lines matter.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/textsplitters@1.0.2 @langchain/core@1.4.0 >/dev/null
cat >probe.mjs <<'JS'
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';

const log = ['door open', '', 'door open', '', 'lights off', '', 'door open'].join('\n');
const documents = await new RecursiveCharacterTextSplitter({ chunkSize: 35, chunkOverlap: 0 }).createDocuments([log]);
const last = documents.at(-1);
const program = 'class Till:\n    def open(self):\n        return 1\n\n    def close(self):\n        return 2\n';
const pieces = await RecursiveCharacterTextSplitter.fromLanguage('python', { chunkSize: 45, chunkOverlap: 0 }).splitText(program);
console.log(`last chunk: ${JSON.stringify(last.pageContent)}, lines ${JSON.stringify(last.metadata.loc.lines)}; it is line 7 of 7`);
console.log(`method as written: ${JSON.stringify('    def close(self):\n        return 2')}, as a chunk: ${JSON.stringify(pieces.at(-1))}`);
const seen = [documents.length, last.pageContent, last.metadata.loc.lines.from, pieces.at(-1)];
if (JSON.stringify(seen) !== JSON.stringify([2, 'door open', 3, 'def close(self):\n        return 2'])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @langchain/textsplitters @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   last chunk: "door open", lines {"from":3,"to":3}; it is line 7 of 7
#   method as written: "    def close(self):\n        return 2", as a chunk: "def close(self):\n        return 2"
