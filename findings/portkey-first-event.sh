#!/usr/bin/env bash
# @portkey-ai/gateway 1.15.2 holds up the first event of each stream for 25 ms, on purpose: a timer stands between the first event that it reads and what it
# passes on. So it adds 25 ms to each time to the first token, where its work takes less than one, and a comparison of gateways by completions without a
# stream does not show it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Its streams need a server package within its own range that is older than the newest.
echo '{"private":true,"dependencies":{"@portkey-ai/gateway":"1.15.2"},"overrides":{"@hono/node-server":"1.13.8"}}' > package.json
npm install --no-audit --no-fund --ignore-scripts >/dev/null
cat > run.mjs <<'JS'
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const chunk = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Hello' } }] })}\n\n`;
const provider = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk);
    setTimeout(() => response.end(`${chunk}data: [DONE]\n\n`), 100);
  });
});
await new Promise((resolve) => provider.listen(0, '127.0.0.1', resolve));
const provided = `http://127.0.0.1:${provider.address().port}/v1/chat/completions`;
const port = 20000 + (process.pid % 20000);
const gateway = spawn(process.execPath, ['node_modules/@portkey-ai/gateway/build/start-server.js', `--port=${port}`, '--headless'], {
  env: { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  stdio: 'ignore',
});

/** Milliseconds to the first piece of the body. */
async function first(url) {
  const headers = { 'content-type': 'application/json', 'x-portkey-provider': 'openai', authorization: 'Bearer key' };
  headers['x-portkey-custom-host'] = provided.replace('/chat/completions', '');
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
  const startedAt = performance.now();
  const reply = await fetch(url, { method: 'POST', headers, body });
  const reader = reply.body.getReader();
  await reader.read();
  const ms = performance.now() - startedAt;
  await reader.cancel();
  return ms;
}
const through = `http://127.0.0.1:${port}/v1/chat/completions`;
for (let turn = 0; turn < 300; turn += 1) {
  try {
    await first(through);
    break;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
const least = async (url) => {
  const times = [];
  for (let turn = 0; turn < 20; turn += 1) times.push(await first(url));
  return Math.min(...times);
};
const [direct, held] = [await least(provided), await least(through)];
gateway.kill();
console.log('@portkey-ai/gateway', JSON.parse(readFileSync('node_modules/@portkey-ai/gateway/package.json', 'utf8')).version);
console.log(`least time to the first event of 20 streams: ${direct < 15 ? 'below 15' : direct} ms straight, ${held >= 24 ? 'at least 24' : held} ms through it`);
const isAsStated = direct < 15 && held >= 24;
console.log(isAsStated ? 'as stated' : 'otherwise than stated');
process.exit(isAsStated ? 0 : 1);
JS
node run.mjs

# Output seen:
# @portkey-ai/gateway 1.15.2
# least time to the first event of 20 streams: below 15 ms straight, at least 24 ms through it
# as stated
