import { describe, expect, it } from 'vitest';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain');

describe('a renewal of a token that outlives its lease', () => {
  it('stores nothing and accuses nobody, once another has taken the renewal', async () => {
    const {
      leases,
      knowledge: { connections },
    } = service.deps.storage;
    const ann = await make.person();
    const account = { provider: 'DRIVE_A', accountName: 'Ann', accessToken: 'token' };
    const { id } = (await ann.post('/api/v1/connections', account)).body;
    const before = await connections.findSealed(id);

    // It ended a second ago.
    const late = await leases.takeRenewal(id, 'late', -1_000);
    const next = await leases.takeRenewal(id, 'next', 60_000);
    if (late === undefined || next === undefined) throw new Error('the renewal was not free');
    expect(await leases.takeRenewal(id, 'third', 60_000)).toBeUndefined();

    expect(await connections.storeRenewal(late, { sealed: 'of the late one', expiresAt: null })).toBeUndefined();
    await connections.requireReauthorization(late);
    await leases.release('renewal', late);
    expect(await connections.findSealed(id)).toBe(before);
    expect(await leases.takeRenewal(id, 'third', 60_000)).toBeUndefined();

    expect(await connections.storeRenewal(next, { sealed: 'of the next one', expiresAt: null })).toMatchObject({
      needsReauthorization: false,
    });
    expect(await connections.findSealed(id)).toBe('of the next one');
    await leases.release('renewal', next);
    expect(await leases.takeRenewal(id, 'third', 60_000)).toMatchObject({ owner: 'third' });
  });
});
