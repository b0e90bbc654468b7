#!/usr/bin/env bash
# @a2a-js/sdk 1.3.0: its client takes messages in the form of the protocol's protobuf code (a number as the role, a part as `{content: {$case,
# value}}`), not as the JSON that the specification shows and the wire has. A message written as in the specification (`role: "ROLE_USER"`, `parts:
# [{text}]`) raises no error: it is sent with the role "UNRECOGNIZED" and an empty part, and the agent answers to nothing. Replies come in the same
# form: `state: 3` for what the wire calls TASK_STATE_COMPLETED.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @a2a-js/sdk@1.3.0 >/dev/null
cat >probe.mjs <<'JS'
import { createServer } from 'node:http';
import { ClientFactory } from '@a2a-js/sdk/client';

let sent;
let card;
const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' } };
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') return response.end(JSON.stringify(card));
    const { id, params } = JSON.parse(body);
    sent = params.message;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { task } }));
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
server.unref();
const url = `http://127.0.0.1:${server.address().port}`;
card = {
  ...{ name: 'Desk', description: 'Answers', version: '1', capabilities: {}, skills: [] },
  ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
};
const client = await new ClientFactory().createFromUrl(url);
const send = async (role, part) => {
  const answer = await client.sendMessage({ message: { messageId: 'm', role, parts: [part], contextId: '', taskId: '' } });
  return JSON.stringify({ role: sent.role, part: sent.parts[0], state: answer.status.state });
};
const ofSpecification = await send('ROLE_USER', { text: 'Hi' });
const ofSdk = await send(1, { content: { $case: 'text', value: 'Hi' } });
console.log('as in the specification:', ofSpecification);
console.log('as in the SDK:          ', ofSdk);
if (ofSpecification !== '{"role":"UNRECOGNIZED","part":{},"state":3}' || ofSdk !== '{"role":"ROLE_USER","part":{"text":"Hi"},"state":3}') {
  console.error('It behaves otherwise now.');
  process.exit(1);
}
JS
for name in @a2a-js/sdk; do echo "$name $(node -p "JSON.parse(require('fs').readFileSync('./node_modules/$name/package.json', 'utf8')).version")"; done
node probe.mjs
# Seen, what the server got and what the client made of its answer:
#   as in the specification: {"role":"UNRECOGNIZED","part":{},"state":3}
#   as in the SDK:           {"role":"ROLE_USER","part":{"text":"Hi"},"state":3}
