#!/usr/bin/env bash
# A list of embeddings in OpenAI's format says in `index` which input each belongs to, so a server may answer in any order, as one that divides a request
# among workers does. Clients put the vectors in the order in which they arrive, and do not look at `index`: `embedMany` of the AI SDK (ai 7.0.173, with
# @ai-sdk/openai 4.0.118, @ai-sdk/openai-compatible 3.0.92 and @ai-sdk/mistral 4.0.87) and `embedDocuments` of @langchain/openai 1.6.0. Each text is then
# stored with the vector of another one; nothing fails, and searches find the wrong passages from then on. @tanstack/ai 0.58.0 gives the place with each
# vector, still in the order of the reply. So a server does well to sort, and whoever writes a client to place by `index`.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps ai@7.0.173 @ai-sdk/openai@4.0.118 @ai-sdk/openai-compatible@3.0.92 @ai-sdk/mistral@4.0.87 @langchain/openai@1.6.0 @langchain/core@1.4.0 @tanstack/ai@0.58.0 @tanstack/ai-openai@0.23.1 zod@4.6.7 >/dev/null 2>&1
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIEmbeddings } from '@langchain/openai';
import { embed } from '@tanstack/ai';
import { createOpenaiEmbedding } from '@tanstack/ai-openai';
import { embedMany } from 'ai';

/** The vector of a number begins with that number; the last one is ready first. */
const server = createServer(async (request, response) => {
  const { input } = JSON.parse((await request.toArray()).join(''));
  const data = input.map((text, index) => ({ object: 'embedding', index, embedding: [Number(text), 1] })).reverse();
  const reply = { id: 'e', object: 'list', model: 'm', data, usage: { prompt_tokens: 3, total_tokens: 3 } };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
const apiKey = 'k';
const values = ['1', '2', '3'];
const byAiSdk = async (model) => (await embedMany({ model, values })).embeddings;
const langchain = new OpenAIEmbeddings({ apiKey, model: 'm', encodingFormat: 'float', configuration: { baseURL } });
const { embeddings } = await embed({ adapter: createOpenaiEmbedding('text-embedding-3-small', apiKey, { baseURL }), input: values });
const firsts = (vectors) => vectors.map(([first]) => first).join(' ');
const seen = {
  '@ai-sdk/openai': firsts(await byAiSdk(createOpenAI({ baseURL, apiKey }).embeddingModel('m'))),
  '@ai-sdk/openai-compatible': firsts(await byAiSdk(createOpenAICompatible({ name: 'probe', baseURL, apiKey }).embeddingModel('m'))),
  '@ai-sdk/mistral': firsts(await byAiSdk(createMistral({ baseURL, apiKey }).embeddingModel('m'))),
  LangChain: firsts(await langchain.embedDocuments(values)),
  'TanStack AI': embeddings.map(({ vector, index }) => `${vector[0]} at ${index}`).join(', '),
};
for (const [client, vectors] of Object.entries(seen)) console.log(`${client}: vectors of 1 2 3 are ${vectors}`);
const expected = ['3 2 1', '3 2 1', '3 2 1', '3 2 1', '3 at 2, 2 at 1, 1 at 0'];
if (JSON.stringify(Object.values(seen)) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in ai @ai-sdk/openai @ai-sdk/openai-compatible @ai-sdk/mistral @langchain/openai @tanstack/ai; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   @ai-sdk/openai: vectors of 1 2 3 are 3 2 1
#   @ai-sdk/openai-compatible: vectors of 1 2 3 are 3 2 1
#   @ai-sdk/mistral: vectors of 1 2 3 are 3 2 1
#   LangChain: vectors of 1 2 3 are 3 2 1
#   TanStack AI: vectors of 1 2 3 are 3 at 2, 2 at 1, 1 at 0
