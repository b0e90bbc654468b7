#!/usr/bin/env bash
# @hono/node-server 1.19.19 (and 1.14.4; 2.1.9 does it right) puts a class of its own in place of the global Response, and with it
# `new Response(body, reply)` of a fetched reply does not copy the headers: they are those of the reply, which nobody may change, and `headers.append`
# throws "immutable". By the Fetch standard, and without the package, they are a copy. So a proxy that passes a reply on and adds a header fails where this
# package serves, far from its own code. @portkey-ai/gateway 1.15.2 does so for streams alone: installed from npm today, with the version that its
# range gives, it answers completions, and 500 to every stream.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --ignore-scripts @hono/node-server@1.19.19 hono@4.13.19 >/dev/null
npm install --prefix gateway --no-audit --no-fund --ignore-scripts @portkey-ai/gateway@1.15.2 @hono/node-server@1.19.19 hono@4.13.19 >/dev/null
cat > run.mjs <<'JS'
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const version = (folder) => JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')).version;
const provider = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => (body += part));
  request.on('end', () => {
    const isStream = body.includes('"stream":true');
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    const choice = isStream ? { index: 0, delta: { content: 'Hello' } } : { index: 0, message: { role: 'assistant', content: 'Hello' } };
    const text = JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ ...choice, finish_reason: 'stop' }] });
    response.end(isStream ? `data: ${text}\n\ndata: [DONE]\n\n` : text);
  });
});
await new Promise((resolve) => provider.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${provider.address().port}`;

/** Whether a header can be added to a fetched reply that is passed on. */
async function added() {
  const reply = await fetch(url, { method: 'POST', body: '{}' });
  try {
    new Response(reply.body, reply).headers.append('x-request-id', '1');
    return 'added';
  } catch (error) {
    return error.message;
  }
}
const before = await added();
const { serve } = await import('@hono/node-server');
const served = serve({ fetch: () => new Response('Hello'), port: 0 });
const after = await added();
console.log(`Node ${process.versions.node.split('.')[0]} alone: ${before}; with @hono/node-server ${version('node_modules/@hono/node-server')}: ${after}`);

const port = 20000 + (process.pid % 20000);
const gateway = spawn(process.execPath, ['node_modules/@portkey-ai/gateway/build/start-server.js', `--port=${port}`, '--headless'], {
  cwd: 'gateway',
  env: { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  stdio: 'ignore',
});
const ask = async (stream) => {
  const headers = { 'content-type': 'application/json', 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${url}/v1`, authorization: 'Bearer key' };
  const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'Hi' }] });
  for (let turn = 0; ; turn += 1) {
    try {
      const { status } = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: 'POST', headers, body });
      return status;
    } catch (error) {
      if (turn > 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
};
const statuses = [await ask(false), await ask(true)];
gateway.kill();
served.close();
console.log(`@portkey-ai/gateway ${version('gateway/node_modules/@portkey-ai/gateway')}: a completion ${statuses[0]}, a stream ${statuses[1]}`);
const isAsStated = before === 'added' && after === 'immutable' && statuses.join() === '200,500';
console.log(isAsStated ? 'as stated' : 'otherwise than stated');
process.exit(isAsStated ? 0 : 1);
JS
node run.mjs

# Output seen:
# Node 26 alone: added; with @hono/node-server 1.19.19: immutable
# @portkey-ai/gateway 1.15.2: a completion 200, a stream 500
# as stated
