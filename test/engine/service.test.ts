import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';

describe('a service', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

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

  it('logs replies at level debug, with the request id they carry', async () => {
    const lines: string[] = [];
    const talkative = await startService({ env: { LOG_LEVEL: 'debug' }, onLog: (line) => lines.push(line) });
    await talkative.nobody.get('/api/v1/ais?secret=1', { 'x-request-id': 'req_of_the_test' });
    await talkative.close();
    const replies = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'reply');
    expect(replies).toMatchObject([{ requestId: 'req_of_the_test', method: 'GET', path: '/api/v1/ais', status: 401 }]);
  });
});
