import { describe, expect, it } from 'vitest';
import type { Organization, Person } from '../../support/make.ts';
import { TestBrowser } from '../../support/people/browser.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

// A link, an invitation and a key for somebody else ask at their use whether their maker may make them now, and whether they are of the same membership.

const { service, make } = await withService('plain', {});
const operator = () => service.client();
const newBrowser = () => new TestBrowser(() => service.url);

const made = {
  'a sign-in link': async (maker: Person, bob: Person) => {
    const { status, body } = await maker.post('/api/v1/admin/sign-in-links', { email: bob.email });
    expect(status).toBe(200);
    return async () => (await newBrowser().signInBy(body.url)).status === 200;
  },
  'a key': async (maker: Person, bob: Person) => keyFor(maker, bob),
  'a key that was made with such a key': async (maker: Person, bob: Person) => {
    const { body } = await maker.post('/api/v1/api-keys', {
      name: 'Lent',
      scopes: ['AGENTS:READ', 'API_KEYS:WRITE'],
      userId: bob.userId,
    });
    const second = await service.client(body.key).post('/api/v1/api-keys', { name: 'Its own', scopes: ['AGENTS:READ'] });
    return () => works(second.body.key);
  },
  'an invitation': async (maker: Person) => {
    const email = `guest-${Date.now()}-${Math.random().toString(36).slice(2)}@example.com`;
    const data = await maker.ask('mutation ($input: InviteInput!) { invite(input: $input) { url } }', {
      input: { email },
    });
    const invitation = data.invite.url.split('#invitation=')[1];
    return async () => (await newBrowser().post('/sign-in/invitation/show', { invitation })).status === 200;
  },
};
type Kind = keyof typeof made;
const kinds = Object.keys(made) as Kind[];

async function keyFor(maker: Person, bob: Person): Promise<() => Promise<boolean>> {
  const given = { name: 'Lent', scopes: ['AGENTS:READ'], userId: bob.userId, orgId: bob.orgId };
  const { status, body } = await maker.post('/api/v1/api-keys', given);
  expect(status).toBe(200);
  return () => works(body.key);
}
const works = async (key: string): Promise<boolean> => (await service.client(key).get('/api/v1/ais')).status === 200;
async function membershipOf({ userId }: Person): Promise<string> {
  return (await operator().get(`/api/v1/admin/memberships?userId=${userId}`)).body.data[0].id;
}
async function setRole(who: Person, role: string): Promise<void> {
  expect((await operator().patch(`/api/v1/admin/memberships/${await membershipOf(who)}`, { role })).status).toBe(200);
}
async function remove(who: Person): Promise<void> {
  expect((await operator().delete(`/api/v1/admin/memberships/${await membershipOf(who)}`)).status).toBeLessThan(300);
}
async function addAgain({ userId, orgId }: Person): Promise<void> {
  expect((await operator().post('/api/v1/admin/memberships', { userId, orgId })).status).toBe(200);
}
/** Another administrator stays: the last one cannot be demoted. */
async function scene(): Promise<{ readonly organization: Organization; readonly maker: Person; readonly bob: Person }> {
  const organization = await make.organization();
  await make.person({ organization, role: 'ADMIN' });
  const maker = await make.person({ organization, role: 'ADMIN' });
  return { organization, maker, bob: await make.person({ organization }) };
}

it('a key that is of no use because of its maker says so in lists', async () => {
  const { maker, bob } = await scene();
  await keyFor(maker, bob);
  const reasons = async () => {
    const data = await bob.ask('{ apiKeys { nodes { name inactiveReason } } }');
    const nodes: readonly { readonly name: string; readonly inactiveReason: string | null }[] = data.apiKeys.nodes;
    return nodes.filter(({ name }) => name === 'Lent').map(({ inactiveReason }) => inactiveReason);
  };
  expect(await reasons()).toEqual([null]);
  const other = await keyFor(maker, bob);
  await setRole(maker, 'MEMBER');
  await eventually(async () => expect(await other()).toBe(false), 2_000);
  expect(await reasons()).toEqual([expect.stringContaining('may not make it any more'), expect.any(String)]);
  const { data } = await bob.graphql('{ viewer { keyId } apiKeys { nodes { id inactiveReason } } }');
  expect(data.apiKeys.nodes).toContainEqual({ id: data.viewer.keyId, inactiveReason: null });
});

describe.each(kinds)('%s for another person', (kind) => {
  it.each<[string, (maker: Person) => Promise<unknown>]>([
    ['was demoted', (maker) => setRole(maker, 'MEMBER')],
    ['became an AUDITOR', (maker) => setRole(maker, 'AUDITOR')],
    ['was removed', (maker) => remove(maker)],
    ['lost the key', (maker) => maker.delete(`/api/v1/api-keys/${maker.keyId}`)],
  ])('is of no use after its maker %s', async (_what, lose) => {
    const { maker, bob } = await scene();
    const use = await made[kind](maker, bob);
    // A link works once, so it is not tried before.
    if (kind !== 'a sign-in link') expect(await use()).toBe(true);
    await lose(maker);
    await eventually(async () => expect(await use()).toBe(false), 2_000);
  });

  it('works while nothing has changed', async () => {
    const { maker, bob } = await scene();
    expect(await (await made[kind](maker, bob))()).toBe(true);
  });
});

describe.each(kinds.filter((kind) => kind !== 'an invitation'))('%s for another person', (kind) => {
  it.each<[string, (bob: Person) => Promise<unknown>]>([
    [
      'was deactivated and is back',
      async ({ userId, orgId }) => {
        for (const name of ['deactivateUser', 'reactivateUser']) {
          const document = `mutation ($id: ID!, $orgId: ID) { ${name}(id: $id, orgId: $orgId) { id } }`;
          expect((await operator().graphql(document, { id: userId, orgId })).errors).toBeUndefined();
        }
      },
    ],
    [
      'was removed and is back',
      async (bob) => {
        await remove(bob);
        await addAgain(bob);
      },
    ],
  ])('is of no use after that person %s', async (_what, leave) => {
    const { maker, bob } = await scene();
    const use = await made[kind](maker, bob);
    await leave(bob);
    expect(await use()).toBe(false);
  });
});

describe('a sign-in link', () => {
  it('is of no use after its person got more rights than the key of its maker has', async () => {
    const { maker, bob } = await scene();
    const scopes = ['AGENTS', 'CHATS', 'DATA_SOURCES', 'GROUPS', 'API_KEYS', 'USAGE', 'SKILLS', 'CONNECTIONS'] as const;
    const member = scopes.flatMap((name) => [`${name}:READ`, `${name}:WRITE`] as const);
    const narrow = await make.withKey(maker, { scopes: [...member, 'ADMIN:WRITE'] });
    const { body } = await narrow.post('/api/v1/admin/sign-in-links', { email: bob.email });
    await setRole(bob, 'ADMIN');
    expect((await newBrowser().signInBy(body.url)).status).toBe(400);
  });

  it('stays good when the browser that made it signs out, and ends when that session is revoked', async () => {
    const { maker, bob } = await scene();
    const linkOf = async (browser: TestBrowser): Promise<string> => {
      const document = `mutation { createSignInLink(input: { email: "${bob.email}" }) { url } }`;
      return (await browser.graphql(document)).data.createSignInLink.url;
    };
    const own = async (): Promise<TestBrowser> => {
      const browser = newBrowser();
      await browser.signInBy((await maker.post('/api/v1/admin/sign-in-links', {})).body.url);
      return browser;
    };
    const left = await own();
    const kept = await linkOf(left);
    expect((await left.post('/sign-out', {})).status).toBeLessThan(400);
    expect((await newBrowser().signInBy(kept)).status).toBe(200);
    const lost = await own();
    const link = await linkOf(lost);
    await maker.graphql('mutation { endOtherSessions { count } }');
    expect((await newBrowser().signInBy(link)).status).toBe(400);
  });
});

describe('a key', () => {
  it('for another person ends with the right of a key of the tenant that made it', async () => {
    const { organization, bob } = await scene();
    const sister = await make.organization({ tenant: { id: organization.tenantId } });
    const tenantKey = await make.person({ organization: sister, level: 'TENANT' });
    const use = await keyFor(tenantKey, bob);
    expect(await use()).toBe(true);
    await remove(tenantKey);
    await eventually(async () => expect(await use()).toBe(false), 2_000);
  });

  it('for another person ends with its maker also where a stream is open', async () => {
    const { maker, bob } = await scene();
    const { body } = await maker.post('/api/v1/api-keys', { name: 'Lent', scopes: ['AGENTS:READ'], userId: bob.userId });
    const ended = Promise.withResolvers<void>();
    service.deps.storage.people.apiKeys.watch(body.id, () => ended.resolve());
    await setRole(maker, 'MEMBER');
    await ended.promise;
  });

  it('that a person made with an own key stays when that key is revoked', async () => {
    const { bob } = await scene();
    const { body } = await bob.post('/api/v1/api-keys', { name: 'Next', scopes: ['AGENTS:READ'] });
    await bob.delete(`/api/v1/api-keys/${bob.keyId}`);
    expect(await works(body.key)).toBe(true);
  });
});
