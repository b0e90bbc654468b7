import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Account, startIdentityProvider } from '../../../support/people/identity-provider.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { withService } from '../../../support/service.ts';

const provider = await startIdentityProvider();
const { service, make } = await withService('plain', {});
let [first, second]: { readonly id: string; readonly tenantId: string }[] = [];

beforeAll(async () => {
  first = await make.organization();
  second = await make.organization();
  await service.restart({
    ...provider.settings('idp'),
    OIDC_IDP_JOIN: `one.example=${first.id}, two.example=${second.id}:ADMIN`,
    OIDC_IDP_GROUPS_CLAIM: 'groups',
    OIDC_IDP_ADMIN_GROUPS: 'admins',
  });
  provider.register(service.url, 'idp');
});
afterAll(() => provider.close());

async function signIn(account: Account): Promise<{ readonly page: WalkingBrowser; readonly text: string }> {
  provider.signsIn(account);
  const page = new WalkingBrowser(() => service.url);
  const { text } = await page.walk('/sign-in/oidc/idp?next=/docs');
  return { page, text };
}
const viewer = async (page: WalkingBrowser) =>
  (await page.graphql('{ viewer { role organization { id } user { id name email } } }')).data.viewer;

describe('a rule for an e-mail domain', () => {
  it('makes a stranger a user and a member of its organization, with its role', async () => {
    const one = await signIn({ sub: '1', email: 'new@one.example', email_verified: true, name: 'New Person' });
    expect(await viewer(one.page)).toMatchObject({
      role: 'MEMBER',
      organization: { id: first?.id },
      user: { name: 'New Person' },
    });
    const two = await signIn({ sub: '2', email: 'New@Two.example', email_verified: true });
    expect(await viewer(two.page)).toMatchObject({
      role: 'ADMIN',
      organization: { id: second?.id },
      user: { email: 'new@two.example' },
    });
  });

  it('lets nobody in with an e-mail that is not verified, or of another domain', async () => {
    const unverified = await signIn({ sub: '3', email: 'eve@one.example', email_verified: false });
    expect(unverified.text).toContain('not verified');
    const other = await signIn({ sub: '4', email: 'eve@sub.one.example', email_verified: true });
    expect((await other.page.viewer()).status).toBe(401);
  });

  it('gives no operator the reach of the installation: the provider vouches for addresses of an organization', async () => {
    const account = { sub: '7', email: 'operator@one.example', email_verified: true };
    const { id } = (await viewer((await signIn(account)).page)).user;
    expect((await service.client().put(`/api/v1/admin/operators/${id}`, {})).status).toBe(200);
    const { page } = await signIn(account);
    const { data } = await page.graphql('{ viewer { level user { isOperator } } }');
    expect(data.viewer).toEqual({ level: 'ORGANIZATION', user: { isOperator: true } });
  });

  it('does not bring back who was removed', async () => {
    const account = { sub: '5', email: 'gone@one.example', email_verified: true };
    const { id } = (await viewer((await signIn(account)).page)).user;
    const { prisma } = service.deps.storage.db;
    const membership = await prisma.membership.findFirstOrThrow({ where: { userId: id } });
    await service.client().delete(`/api/v1/admin/memberships/${membership.id}`);
    expect((await signIn(account)).text).toContain('no member of the organization any more');
  });

  it('keeps the last administrator of an organization until there is another', async () => {
    const own = await make.organization();
    await service.restart({
      ...provider.settings('idp'),
      OIDC_IDP_JOIN: `*=${own.id}`,
      OIDC_IDP_GROUPS_CLAIM: 'groups',
      OIDC_IDP_ADMIN_GROUPS: 'admins',
    });
    provider.register(service.url, 'idp');
    const account = { sub: '6', email: 'last@three.example', email_verified: true };
    expect((await viewer((await signIn({ ...account, groups: ['admins'] })).page)).role).toBe('ADMIN');
    expect((await viewer((await signIn({ ...account, groups: [] })).page)).role).toBe('ADMIN');
    const another = await make.person({ organization: own, role: 'ADMIN' });
    expect((await viewer((await signIn({ ...account, groups: [] })).page)).role).toBe('MEMBER');
    // The administrator sees how the person signs in.
    const query = '{ users { nodes { email identities { nodes { provider isAdminByGroup } } } } }';
    const { body } = await another.post('/graphql', { query });
    expect(body.data.users.nodes).toContainEqual({
      email: 'last@three.example',
      identities: { nodes: [{ provider: 'idp', isAdminByGroup: false }] },
    });
  });
});
