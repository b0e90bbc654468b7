#!/usr/bin/env bash
# A JSON answer whose text holds a fenced piece of code, as agents for programmers give: `JsonOutputParser` of @langchain/core 1.4.0, and with it
# `withStructuredOutput` of @langchain/openai 1.6.0 for a JSON Schema, look for fences first, also within the texts of the JSON. Streamed, the answer
# ends before the fence without an error: "Run:\" of "Run:\n```bash\nls\n```". Not streamed, the parser throws; and where the code is JSON itself, as
# ```1```, that is the result. `StructuredOutputParser`, which a zod schema gets, reads the whole text when that fails. The documentation says that
# the parser takes JSON. So give a zod schema, or parse the text with JSON.parse and keep the parser for JSON with words around it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @langchain/openai@1.6.0 @langchain/core@1.4.0 zod@4.6.7 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { JsonOutputParser } from '@langchain/core/output_parsers';
import { ChatOpenAI } from '@langchain/openai';
import * as z from 'zod';

let answer = '';
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse(Buffer.concat(await request.toArray()));
  const toBody = (name, content, finish_reason) =>
    JSON.stringify({ id: 'c', object: name === 'delta' ? 'chat.completion.chunk' : 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, [name]: { role: 'assistant', content }, finish_reason }] });
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  const pieces = answer.match(/[^]{1,4}/g).map((piece) => `data: ${toBody('delta', piece, null)}\n\n`);
  response.end(stream ? `${pieces.join('')}data: ${toBody('delta', '', 'stop')}\n\ndata: [DONE]\n\n` : toBody('message', answer, 'stop'));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const configuration = { baseURL: `http://127.0.0.1:${server.address().port}/v1` };
const model = new ChatOpenAI({ model: 'm', apiKey: 'none', configuration, maxRetries: 0 });
const jsonSchema = { title: 'reply', type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] };
const structured = (schema) => model.withStructuredOutput(schema, { method: 'jsonSchema' });
const last = async (runnable) => {
  let value;
  for await (const one of await runnable.stream('Hi')) value = one;
  return value;
};
const attempt = async (work) => {
  try {
    return JSON.stringify(await work());
  } catch (error) {
    return error.name;
  }
};
const seen = [];
for (const [name, text] of Object.entries({ plain: 'Run: ls', fenced: 'Run:\n```bash\nls\n```', 'fenced JSON': 'Run ```1``` now' })) {
  answer = JSON.stringify({ answer: text });
  const found = {
    parse: await attempt(() => new JsonOutputParser().parse(answer)),
    'JSON Schema, streamed': await attempt(() => last(structured(jsonSchema))),
    'JSON Schema, whole': await attempt(() => structured(jsonSchema).invoke('Hi')),
    'zod, whole': await attempt(() => structured(z.object({ answer: z.string() })).invoke('Hi')),
  };
  console.log(`${name}, ${answer}:\n  ${Object.entries(found).map(([way, value]) => `${way}: ${value}`).join('\n  ')}`);
  seen.push(...Object.values(found).map((value) => (value === answer ? 'right' : value)));
}
const expected = [
  ...['right', 'right', 'right', 'right'],
  ...['SyntaxError', JSON.stringify({ answer: 'Run:\\' }), 'SyntaxError', 'right'],
  ...['1', '1', '1', 'right'],
];
if (JSON.stringify(seen) !== JSON.stringify(expected)) {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in @langchain/openai @langchain/core; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   fenced, {"answer":"Run:\n```bash\nls\n```"}:
#     parse: SyntaxError
#     JSON Schema, streamed: {"answer":"Run:\\"}
#     JSON Schema, whole: SyntaxError
#     zod, whole: {"answer":"Run:\n```bash\nls\n```"}
#   fenced JSON, {"answer":"Run ```1``` now"}:
#     parse: 1
#     JSON Schema, streamed: 1
#     JSON Schema, whole: 1
#     zod, whole: {"answer":"Run ```1``` now"}
