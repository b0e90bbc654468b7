import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The baseline: a bare node:http pass-through, without any checks. */
const upstream = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

const server = createServer((request, response) => {
  const onward = send(
    {
      agent,
      host: upstream.hostname,
      port: upstream.port,
      path: '/v1/chat/completions',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': request.headers['content-length'] },
    },
    (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  request.pipe(onward);
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('message', (message) => {
  if (message === 'cpu')
    process.send?.({ cpuMicros: process.cpuUsage().user + process.cpuUsage().system, rssBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
