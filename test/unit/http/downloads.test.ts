import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { sendDownload } from '../../../src/http/reply/download.ts';

it('a download whose client left while it was opened is given up', async () => {
  const content = new Readable({ read: () => undefined });
  const opening = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<void>();
  const server = createServer((_req, res) => {
    const open = async () => {
      opening.resolve();
      await once(res, 'close');
      return content;
    };
    sendDownload(res, { filename: 'a.bin', sizeBytes: null, open }, 'req', false).then(sent.resolve, sent.reject);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await opening.promise;
  socket.destroy();
  await sent.promise;
  expect(content.destroyed).toBe(true);
  server.close();
});
