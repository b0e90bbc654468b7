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
});
