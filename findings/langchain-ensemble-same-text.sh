#!/usr/bin/env bash
# `EnsembleRetriever` of @langchain/classic 1.0.50, which joins the results of several searches (words and meaning, as a rule), takes documents for the same
# when their text is the same: "Notice period: 30 days." of contract A and of contract B become one result, with the metadata and the id of
# whichever came first, also where the ids differ and every search found both. The one that is left gets the ranks of both, and so stands before
# what really fits better. So an answer cites contract A for what was asked of B, and forms, tables and footers, whose passages repeat, hide
# each other. `MultiQueryRetriever` of the same package keeps both. The documentation speaks of ranks only. So write the source into the text of each
# passage, or join the results yourself, by id.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps @langchain/classic@1.0.50 @langchain/core@1.4.0 >/dev/null
cat >probe.mjs <<'JS'
import { EnsembleRetriever } from '@langchain/classic/retrievers/ensemble';
import { MultiQueryRetriever } from '@langchain/classic/retrievers/multi_query';
import { Document } from '@langchain/core/documents';
import { BaseRetriever } from '@langchain/core/retrievers';
import { FakeListChatModel } from '@langchain/core/utils/testing';

class Found extends BaseRetriever {
  lc_namespace = ['probe'];
  constructor(documents) {
    super();
    this.documents = documents;
  }
  async _getRelevantDocuments() {
    return this.documents;
  }
}
const clause = (contract) => new Document({ id: contract, pageContent: 'Notice period: 30 days.', metadata: { source: contract } });
const best = new Document({ id: 'C', pageContent: 'Contract B may be ended by either side.', metadata: { source: 'C' } });
const sources = (documents) => documents.map(({ metadata }) => metadata.source).join(' ');
const seen = {
  // "C" is the best result of both searches; the clause of A is third, that of B second.
  EnsembleRetriever: sources(await new EnsembleRetriever({ retrievers: [new Found([best, clause('A'), clause('B')]), new Found([best, clause('B'), clause('A')])] }).invoke('Notice of contract B?')),
  'EnsembleRetriever, different texts': sources(
    await new EnsembleRetriever({
      retrievers: ['A', 'B'].map((contract) => new Found([best, new Document({ ...clause(contract), pageContent: `${contract}: Notice period: 30 days.` })])),
    }).invoke('Notice of contract B?'),
  ),
  MultiQueryRetriever: sources(
    await MultiQueryRetriever.fromLLM({
      llm: new FakeListChatModel({ responses: ['<questions>\nWhat is the notice period?\n</questions>'] }),
      retriever: new Found([best, clause('A'), clause('B')]),
    }).invoke('Notice of contract B?'),
  ),
};
for (const [name, found] of Object.entries(seen)) console.log(`${name}: ${found}`);
if (Object.values(seen).join() !== 'A C,C A B,C A B') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/classic @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   EnsembleRetriever: A C
#   EnsembleRetriever, different texts: C A B
#   MultiQueryRetriever: C A B
