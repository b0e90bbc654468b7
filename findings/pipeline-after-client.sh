#!/usr/bin/env bash
# A server that opens a file and then pipes it to the reply does not close it for a client that left meanwhile. `stream/promises` pipeline says that it
# destroys its streams when one of them fails; where the reply was destroyed before the call it rejects with ERR_STREAM_UNABLE_TO_PIPE, and leaves the
# source as it is: not read, not destroyed, its FileHandle open. Node 24.21.0 closes such a handle later, with a warning; Node 26.10.0 makes an
# uncaught exception of it (ERR_INVALID_STATE), at some later moment, in which nothing names the request: the whole server ends for one download that
# somebody left. Where the client leaves a moment later, while it is read, all is closed. The documentation of pipeline is silent about a destination
# that is destroyed already. So a server destroys the source itself behind each pipeline, or opens the file by the first read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund node@26.10.0 >/dev/null
head -c 300000 /dev/zero >file.bin
cat >probe.mjs <<'JS'
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { pipeline } from 'node:stream/promises';

const waitMs = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function download(leavesBefore) {
  const opened = Promise.withResolvers();
  const told = Promise.withResolvers();
  const server = createServer(async (_request, response) => {
    const handle = await open('file.bin');
    const source = createReadStream('', { fd: handle });
    opened.resolve();
    if (leavesBefore) await once(response, 'close');
    const code = await pipeline(source, response).then(
      () => 'none',
      (error) => error.code,
    );
    await waitMs(50);
    told.resolve({ error: code, destroyed: source.destroyed, open: handle.fd !== -1 });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect(server.address().port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await opened.promise;
  if (!leavesBefore) await once(socket, 'data');
  socket.destroy();
  const seen = await told.promise;
  server.close();
  return seen;
}

const ends = [];
process.on('uncaughtException', (error) => ends.push(error.code));
console.log('leaves while it is read:', JSON.stringify(await download(false)));
console.log('left while it was opened:', JSON.stringify(await download(true)));
for (let n = 0; n < 20 && ends.length === 0; n += 1) {
  await waitMs(50);
  globalThis.gc();
}
console.log('uncaught:', ends.join(' '));
JS
./node_modules/.bin/node --version
./node_modules/.bin/node --expose-gc probe.mjs | tee seen
diff seen - <<'TEXT'
leaves while it is read: {"error":"ERR_STREAM_PREMATURE_CLOSE","destroyed":true,"open":false}
left while it was opened: {"error":"ERR_STREAM_UNABLE_TO_PIPE","destroyed":false,"open":true}
uncaught: ERR_INVALID_STATE
TEXT
