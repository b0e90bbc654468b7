import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Followed, follow as followed } from '../../../support/apis/live.ts';
import type { Organization, Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
let organization: Organization;
let admin: Person;
let ann: Person;
const open: Followed[] = [];

beforeEach(async () => {
  organization = await make.organization();
  admin = await make.person({ organization, role: 'ADMIN' });
  ann = await make.person({ organization });
});
afterEach(async () => {
  for (const stream of open.splice(0)) stream.stop();
  await eventually(() => expect(service.deps.live.followed).toEqual([]));
});

async function follow(who: Person, field = 'apiKeysChanged', selected = 'kind id node { name }'): Promise<Followed> {
  const stream = await followed(who, field, selected);
  open.push(stream);
  return stream;
}
const makeKey = async (who: Person, name: string) =>
  (await who.post('/api/v1/api-keys', { name, scopes: ['AGENTS:READ'] })).body.id as string;
const everybody = 'apiKeysChanged(ofOrganization: true)';

describe('apiKeysChanged', () => {
  it('tells a key that is made, and its end when it is revoked', async () => {
    const stream = await follow(ann);
    const id = await makeKey(ann, 'Report');
    expect(await stream.next()).toEqual({ kind: 'CREATED', id, node: { name: 'Report' } });
    await ann.delete(`/api/v1/api-keys/${id}`);
    expect(await stream.next()).toEqual({ kind: 'DELETED', id, node: null });
  });

  it('tells people their own keys, and administrators all of the organization', async () => {
    const [own, all] = [await follow(ann), await follow(admin, everybody)];
    const others = await makeKey(admin, 'Of the administrator');
    const id = await makeKey(ann, 'Own');
    expect(await own.next()).toMatchObject({ kind: 'CREATED', id });
    const told = [await all.next(), await all.next()].map((change) => change.id);
    expect(new Set(told)).toEqual(new Set([others, id]));
    await makeKey(await make.person({ role: 'ADMIN' }), 'Elsewhere');
    const last = await makeKey(ann, 'Last');
    expect(await all.next()).toMatchObject({ id: last });
  });

  it('tells that the keys of somebody end who is deactivated', async () => {
    const id = await makeKey(ann, 'Report');
    const stream = await follow(admin, everybody, 'kind id');
    await admin.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { id } }', { id: ann.userId });
    expect(await stream.until((change) => change.id === id)).toContainEqual({ kind: 'DELETED', id });
  });

  it('goes on after a break with what was made and revoked since', async () => {
    const stream = await follow(ann, 'apiKeysChanged', 'id cursor');
    const revoked = await makeKey(ann, 'Report');
    const { cursor } = await stream.next();
    stream.stop();
    await ann.delete(`/api/v1/api-keys/${revoked}`);
    const id = await makeKey(ann, 'Report 2');
    const again = await follow(ann, `apiKeysChanged(after: "${cursor}")`, 'kind id');
    const told = await again.until((change) => change.id === id);
    expect(told).toContainEqual({ kind: 'DELETED', id: revoked });
    expect(told).toContainEqual({ kind: 'CREATED', id });
  });

  it('tells the keys of others to administrators only', async () => {
    const refused = await follow(ann, everybody);
    await refused.over();
    expect(refused.code).toBe('FORBIDDEN');
  });
});
