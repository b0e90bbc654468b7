import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../../support/service.ts';

describe('a service that restarts', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    await service.restart();
  });
  afterAll(() => service.close());

  it('keeps its keys', async () => {
    const reply = await service.client().graphql('{ viewer { user { email } } }');
    expect(reply).toEqual({ status: 200, data: { viewer: { user: { email: 'admin@localhost' } } }, errors: undefined });
  });
});
