#!/usr/bin/env bash
# @ag-ui/client 1.0.0: `runAgent()` of `HttpAgent` resolves with the messages so far whether the run finished, sent RUN_ERROR, or its stream broke off
# without either. RUN_ERROR reaches only a subscriber of that event; `onRunFailed` is not called for it. Of a broken stream nothing tells at all,
# though the protocol ends each run with one of the two events.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @ag-ui/client@1.0.0 >/dev/null
cat >serve.mjs <<'JS'
import { createServer } from 'node:http';

/** A provider that answers every request with one text. */
export async function serve(text, type = 'text/event-stream') {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += part));
    request.on('end', () => {
      server.lastBody = body;
      response.writeHead(200, { 'content-type': type });
      response.end(text);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}
export const named = (events) => events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
export const unnamed = (events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
JS
cat >probe.mjs <<'JS'
import { HttpAgent } from '@ag-ui/client';
import { serve, unnamed } from './serve.mjs';

const run = { threadId: 't', runId: 'r' };
const begin = [
  { type: 'RUN_STARTED', ...run },
  { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Take two' },
];
const streams = {
  finished: [...begin, { type: 'TEXT_MESSAGE_END', messageId: 'm' }, { type: 'RUN_FINISHED', ...run }],
  failed: [...begin, { type: 'RUN_ERROR', message: 'The model is gone' }],
  cut: begin,
};
const seen = {};
for (const [name, events] of Object.entries(streams)) {
  const { url } = await serve(unnamed(events));
  const agent = new HttpAgent({ url, threadId: 't' });
  const told = [];
  const subscriber = { onRunErrorEvent: () => void told.push('RUN_ERROR'), onRunFailed: () => void told.push('failed') };
  const result = await agent.runAgent({ runId: 'r' }, subscriber).catch(() => undefined);
  seen[name] = [result?.newMessages[0]?.content ?? 'rejected', ...told].join(', ');
}
console.log(JSON.stringify(seen));
if (JSON.stringify(seen) !== '{"finished":"Take two","failed":"Take two, RUN_ERROR","cut":"Take two"}') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @ag-ui/client; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen:
#   {"finished":"Take two","failed":"Take two, RUN_ERROR","cut":"Take two"}
