#!/usr/bin/env bash
# `BM25Retriever` of @langchain/community 1.1.29 does not search for words. It counts where the letters of a word of the question stand in the text, also
# within other words: for "art", "Start the smart chart party cart" comes before "Modern art museum". It cuts the question at spaces only, so a mark
# stays with its word: "art?" finds nothing, though people end questions so. A word with signs, as "C++", never matches, also where the text has it. And what
# matches nothing is given all the same, with the score 0, until there are `k` results: a question about nothing that is stored gets the
# first documents of the list, whatever they say, and a model answers from them. The documentation calls it BM25, which is about words, and
# names none of these. So take marks off questions, ask for scores (`includeScore`) and drop those of 0; for short words take another package.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps @langchain/community@1.1.29 @langchain/core@1.4.0 @langchain/classic@1.0.50 >/dev/null
cat >probe.mjs <<'JS'
import { BM25Retriever } from '@langchain/community/retrievers/bm25';
import { Document } from '@langchain/core/documents';

const texts = ['Nothing of this kind', 'Start the smart chart party cart', 'Modern art museum', 'A guide to C++ and others'];
const retriever = BM25Retriever.fromDocuments(texts.map((pageContent) => new Document({ pageContent })), { k: 2, includeScore: true });
const seen = {};
for (const question of ['museum', 'art', 'art?', 'C++', 'zebra']) {
  const found = await retriever.invoke(question);
  seen[question] = found.map(({ pageContent, metadata }) => `${texts.indexOf(pageContent)}${metadata.bm25Score > 0 ? '' : ' with score 0'}`).join(', ');
  console.log(`"${question}": ${found.map(({ pageContent, metadata }) => `"${pageContent}" ${metadata.bm25Score.toFixed(2)}`).join(', ')}`);
}
const none = '0 with score 0, 1 with score 0';
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(['2, 0 with score 0', '1, 2', none, none, none])) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/community; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   "museum": "Modern art museum" 1.42, "Nothing of this kind" 0.00
#   "art": "Start the smart chart party cart" 1.18, "Modern art museum" 0.82
#   "art?": "Nothing of this kind" 0.00, "Start the smart chart party cart" 0.00
#   "C++": "Nothing of this kind" 0.00, "Start the smart chart party cart" 0.00
#   "zebra": "Nothing of this kind" 0.00, "Start the smart chart party cart" 0.00
