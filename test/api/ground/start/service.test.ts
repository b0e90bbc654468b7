import { describe, expect, it } from 'vitest';
import { startService, withService } from '../../../support/service.ts';

const { service } = await withService();

describe('a service', () => {
  it('answers whether it is alive and ready', async () => {
    expect(await service.nobody.get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await service.nobody.get('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
  });

  it('answers a path that does not exist with the common error object', async () => {
    expect(await service.nobody.get('/nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found', param: null } },
    });
  });

  it('logs one line for each reply: key, operation, outcome; no query, header or body', async () => {
    const lines: string[] = [];
    const talkative = await startService({ env: { LOG_LEVEL: 'info' }, onLog: (text) => lines.push(...text.trim().split('\n')) });
    const admin = talkative.client();
    const requestId = 'req_of_the_test';
    await talkative.nobody.get('/api/v1/ais?secret=canary-query', { 'x-request-id': requestId });
    await admin.post(
      '/graphql',
      { query: '{ viewer { keyId } }', variables: { canary: 'canary-body' } },
      { 'x-request-id': requestId },
    );
    await admin.get(`/api/v1/chats/${admin.key}`, { 'x-request-id': requestId });
    await admin.get(`/api/v1/chats/${'token'.repeat(20)}`, { 'x-request-id': requestId });
    await talkative.close();
    const replies = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'reply');
    const keyId = expect.stringMatching(/^key_/);
    expect(replies).toMatchObject([
      { requestId, method: 'GET', path: '/api/v1/ais', status: 401, durationMs: expect.any(Number) },
      { requestId, method: 'POST', path: '/graphql', status: 200, keyId },
      { requestId, method: 'GET', status: 404, keyId },
      { requestId, method: 'GET', path: '/api/v1/chats/[long]', status: 404, keyId },
    ]);
    expect(replies[0]).not.toHaveProperty('keyId');
    expect(lines.join('\n')).not.toMatch(/canary/);
    expect(lines.join('\n')).not.toContain(admin.key);
  });
});
