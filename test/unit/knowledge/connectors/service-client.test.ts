import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ServiceClient, type ServiceToken } from '../../../../src/engine/knowledge/connectors/service-client/client.ts';
import { CursorTrail } from '../../../../src/engine/knowledge/connectors/service-client/cursor-trail.ts';
import { startStandIn } from '../../../fixtures/upstreams/stand-in.ts';
import { connectorBench } from '../../../support/knowledge/connector-bench.ts';

const service = await startStandIn(() => ({ body: { value: [] } }));
const bench = connectorBench({}, { access: 'token' });
const vendors = new ServiceClient({ egress: bench.services.egress, timeoutMs: 5_000, connectTimeoutMs: 5_000, backoffMs: 1 });
afterAll(() => Promise.all([vendors.close(), bench.close(), service.close()]));
const never = new AbortController().signal;
let account = 0;
beforeEach(() => {
  account += 1;
  service.requests.length = 0;
  service.recover();
});
const tokenOf = (name: string): ServiceToken => ({
  account: name,
  authorization: async () => 'Bearer token',
  renew: () => Promise.reject(new Error('not asked for')),
});
const get = (path: string, name = `account-${account}`) =>
  vendors.json({ service: 'the drive', url: service.url + path, token: tokenOf(name) }, never);
const cameAt = (path: string) => service.requests.filter((request) => request.path === path).map(({ atMs }) => atMs);

describe('a service that asks to wait', () => {
  it('is left alone by all requests of the account, and not by those of others', async () => {
    service.fail({ match: /\/one/, status: 429, headers: { 'retry-after': '1' } });
    const first = get('/one');
    await expect.poll(() => cameAt('/one')).toHaveLength(1);
    const begunMs = performance.now();
    // The reply is on its way: when it is there, all others wait.
    await get('/other', 'somebody else');
    await Promise.all([first, get('/two'), get('/three')]);
    const [said = 0, again = 0] = cameAt('/one');
    for (const atMs of [again, ...cameAt('/two'), ...cameAt('/three')]) expect(atMs - said).toBeGreaterThan(950);
    expect((cameAt('/other')[0] ?? 0) - begunMs).toBeLessThan(950);
  });

  it('for longer than a request waits is not asked: the job comes back later', async () => {
    service.fail({ match: /\/one/, status: 503, headers: { 'retry-after': '300' } });
    await expect(get('/one')).rejects.toMatchObject({ code: 'UNREACHABLE', retryAfterMs: 300_000 });
    const refused = await get('/two').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: expect.toSatisfy((ms: number) => ms > 200_000) });
    expect(cameAt('/two')).toEqual([]);
  });
});

it('a redirect of an answer is not followed, and says where it leads', async () => {
  service.fail({ match: /\/one/, status: 302, headers: { location: 'http://10.1.2.3/x' } });
  await expect(get('/one')).rejects.toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('10.1.2.3') });
});

describe('a trail of cursors', () => {
  it('ends a list whose pages lead in a circle, and lets one begin anew', () => {
    const trail = new CursorTrail('The drive');
    expect(trail.follow('a', undefined, 'one')).toBe('one');
    expect(trail.follow('a', 'one', 'two')).toBe('two');
    expect(trail.follow('b', undefined, 'one')).toBe('one');
    expect(() => trail.follow('a', 'two', 'one')).toThrow(/again and again/);
    expect(trail.follow('a', undefined, 'one')).toBe('one');
    expect(trail.follow('a', 'one', '')).toBeUndefined();
  });
});
