import { createHash } from 'node:crypto';
import express from 'express';
import { Pool } from 'undici';

/**
 * A plain gateway as a team writes it in an afternoon: Express, a key that is looked up by its hash, the request and the reply passed on, a line of usage
 * a request in memory. No agents, no limits, no log.
 *
 * Usage: `gateway.ts <upstream URL> <port>`; its one key is `bench`.
 */
const [, , upstreamUrl = '', port = '0'] = process.argv;
const upstream = new Pool(upstreamUrl, { connections: 4_096, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const keys = new Map([[hashOf('bench'), { id: 'key_1', tokens: 0 }]]);

const app = express();
app.disable('x-powered-by');
app.use(express.json({ limit: '10mb' }));
app.get('/ready', (_request, response) => {
  response.end('ok');
});
app.post('/v1/chat/completions', async (request, response) => {
  const key = keys.get(hashOf(request.headers.authorization?.slice('Bearer '.length) ?? ''));
  if (key === undefined) {
    response.status(401).json({ error: { message: 'The key is not known' } });
    return;
  }
  const headers = { 'content-type': 'application/json' };
  const reply = await upstream.request({ method: 'POST', path: request.path, headers, body: JSON.stringify(request.body) });
  response.status(reply.statusCode);
  if (request.body.stream === true) {
    response.setHeader('content-type', 'text/event-stream');
    reply.body.pipe(response);
    response.on('close', () => reply.body.destroy());
    return;
  }
  const completion = (await reply.body.json()) as { readonly usage?: { readonly total_tokens: number } };
  key.tokens += completion.usage?.total_tokens ?? 0;
  response.json(completion);
});
app.listen(Number(port), '127.0.0.1');
