#!/usr/bin/env bash
# Two packages that watch calls of openai 7.59.0 take parts of the client away, though both say in their types that it stays the same client.
# `observeOpenAI` of @langfuse/openai 5.11.1: no call has `withResponse()` or `asResponse()`, with which programs read the request id and the limits of
# rate; a stream has no `toReadableStream()`, `tee()` or `controller`, so a route that passes it on, or stops it, fails; and the helper
# `chat.completions.stream()` gives a plain iterator. `wrapOpenAI` of langsmith 0.12.0 keeps these, and loses `withOptions()`, with which a program
# gives one call its own time limit or key. Only code that runs shows it, not the compiler, and the documentation is silent: so call what you
# need of the client in a test with the wrapper around it, or keep the plain client beside.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund openai@7.59.0 @langfuse/openai@5.11.1 langsmith@0.12.0 @opentelemetry/api@1.10.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { observeOpenAI } from '@langfuse/openai';
import { wrapOpenAI } from 'langsmith/wrappers';
import OpenAI from 'openai';

process.env.LANGSMITH_TRACING = 'false';
const server = createServer(async (request, response) => {
  const { stream } = JSON.parse(Buffer.concat(await request.toArray()));
  const choice = { index: 0, finish_reason: 'stop', [stream ? 'delta' : 'message']: { role: 'assistant', content: 'Hi' } };
  const body = JSON.stringify({ id: 'c', object: stream ? 'chat.completion.chunk' : 'chat.completion', created: 1, model: 'm', choices: [choice] });
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json', 'x-request-id': 'r1' });
  response.end(stream ? `data: ${body}\n\ndata: [DONE]\n\n` : body);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const options = { apiKey: 'none', baseURL: `http://127.0.0.1:${server.address().port}/v1`, maxRetries: 0 };
const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const uses = {
  create: async ({ chat }) => (await chat.completions.create(question)).choices[0].message.content === 'Hi',
  withResponse: async ({ chat }) => (await chat.completions.create(question).withResponse()).request_id === 'r1',
  asResponse: async ({ chat }) => (await chat.completions.create(question).asResponse()).status === 200,
  toReadableStream: async ({ chat }) =>
    (await new Response((await chat.completions.create({ ...question, stream: true })).toReadableStream()).text()).includes('Hi'),
  controller: async ({ chat }) => (await chat.completions.create({ ...question, stream: true })).controller !== undefined,
  'stream helper': async ({ chat }) => (await chat.completions.stream(question).finalContent()) === 'Hi',
  withOptions: async (client) => (await client.withOptions({ timeout: 1000 }).chat.completions.create(question)).choices.length === 1,
};
const clients = {
  openai: new OpenAI(options),
  '@langfuse/openai': observeOpenAI(new OpenAI(options)),
  langsmith: wrapOpenAI(new OpenAI(options)),
};
const seen = [];
for (const [name, client] of Object.entries(clients)) {
  const failing = [];
  for (const [use, isRight] of Object.entries(uses)) {
    const works = await isRight(client).catch(() => false);
    if (!works) failing.push(use);
  }
  console.log(`${name}: ${failing.length === 0 ? 'all works' : `fails: ${failing.join(', ')}`}`);
  seen.push(failing.join());
}
if (seen.join(';') !== ';withResponse,asResponse,toReadableStream,controller,stream helper;withOptions') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
process.exit(0);
JS
for name in openai @langfuse/openai langsmith; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   openai: all works
#   @langfuse/openai: fails: withResponse, asResponse, toReadableStream, controller, stream helper
#   langsmith: fails: withOptions
