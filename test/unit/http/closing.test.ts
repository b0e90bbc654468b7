import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { closing } from '../../../src/http/connections/closing.ts';
import { Connections } from '../../../src/http/connections/connections.ts';
import { loadSettings } from '../../../src/settings.ts';

it('a server that stops sends whole what it has begun to send, also to a slow reader', async () => {
  // More than the machine keeps for a connection.
  const body = Buffer.alloc(64 * 1024 ** 2, 'x');
  const connections = new Connections(loadSettings({}), (_request, response) => response.end(body));
  const server = createServer(connections.handle);
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(socket, 'readable');
  const closed = closing(server);
  let receivedBytes = 0;
  for await (const piece of socket) receivedBytes += (piece as Buffer).length;
  expect(receivedBytes).toBeGreaterThan(body.length);
  await closed;
});
