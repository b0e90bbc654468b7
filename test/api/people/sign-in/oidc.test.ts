import { afterAll, describe, expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { type IdentityProvider, startIdentityProvider } from '../../../support/people/identity-provider.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { type TestService, withService } from '../../../support/service.ts';

const provider: IdentityProvider = await startIdentityProvider();
const lines: string[] = [];
const { service, make } = await withService('plain', {
  env: {
    LOG_LEVEL: 'info',
    ...provider.settings('idp'),
    OIDC_IDP_GROUPS_CLAIM: 'groups',
    OIDC_IDP_ADMIN_GROUPS: 'parley-admins',
  },
  onLog: (line) => lines.push(line),
});

provider.register(service.url, 'idp');
const { data } = await service.client().graphql('{ viewer { organization { id tenantId } } }');
const home = data.viewer.organization;

afterAll(() => provider.close());

const browser = () => new WalkingBrowser(() => service.url);
let made = 0;
const verified = (email: string, more: object = {}) => ({ sub: `sub-${++made}`, email, email_verified: true, ...more });
const colleague = (of: { role?: 'ADMIN'; email?: string } = {}): Promise<Person> => make.person({ organization: home, ...of });
const prisma = (of: TestService = service) => of.deps.storage.db.prisma;

describe('signing in by a provider', () => {
  it('leads the user of the verified e-mail to the page that was wanted, in a session with the rights of the role', async () => {
    const ann = await colleague();
    provider.signsIn(verified(ann.email.toUpperCase()));
    const page = browser();
    const { url, status } = await page.walk('/sign-in/oidc/idp?next=/docs');
    expect({ url, status }).toEqual({ url: `${service.url}/docs`, status: 200 });
    const { data } = await page.viewer();
    expect(data.viewer).toMatchObject({ role: 'MEMBER', session: { method: 'OIDC' }, user: { email: ann.email } });
  });

  it('finds the same user again by the subject, whatever the e-mail is then', async () => {
    const ann = await colleague();
    const account = verified(ann.email);
    provider.signsIn(account);
    await browser().walk('/sign-in/oidc/idp');
    provider.signsIn({ sub: account.sub, email: 'other@example.com', email_verified: false });
    const page = browser();
    await page.walk('/sign-in/oidc/idp');
    expect((await page.viewer()).data.viewer.user.email).toBe(ann.email);
    const { body } = await ann.post('/graphql', { query: '{ viewer { user { identities { nodes { provider email } } } } }' });
    expect(body.data.viewer.user.identities.nodes).toEqual([{ provider: 'idp', email: 'other@example.com' }]);
  });

  it.each([
    ['an e-mail that is not verified', { email_verified: false }, 'not verified'],
    ['no word about the e-mail', { email_verified: undefined }, 'not verified'],
    ['no e-mail', { email: undefined }, 'does not say what your e-mail address is'],
  ])('refuses: %s', async (_case, change, words) => {
    const ann = await colleague();
    provider.signsIn({ ...verified(ann.email), ...change } as never);
    const page = browser();
    const { status, text } = await page.walk('/sign-in/oidc/idp');
    expect(status).toBe(403);
    expect(text).toContain(words);
    expect((await page.viewer()).status).toBe(401);
  });

  it('refuses a stranger, and who was removed from the organization', async () => {
    provider.signsIn(verified('stranger@example.org'));
    expect((await browser().walk('/sign-in/oidc/idp')).text).toContain('is no member of');
    const ann = await colleague();
    provider.signsIn(verified(ann.email));
    await browser().walk('/sign-in/oidc/idp');
    const { id } = await prisma().membership.findFirstOrThrow({ where: { userId: ann.userId } });
    await service.client().delete(`/api/v1/admin/memberships/${id}`);
    expect((await browser().walk('/sign-in/oidc/idp')).text).toContain('no member of the organization any more');
  });

  it.each(['//evil.example/x', '/\\evil.example', 'https://evil.example', '/.//evil.example', 'javascript:alert(1)'])(
    'leads to addresses of its own only: %s',
    async (next) => {
      const ann = await colleague();
      provider.signsIn(verified(ann.email));
      const { url } = await browser().walk(`/sign-in/oidc/idp?next=${encodeURIComponent(next)}`);
      expect(new URL(url).origin).toBe(service.url);
    },
  );
});

describe('an answer of a provider', () => {
  const callback = () => `${service.url}/sign-in/oidc/idp/callback`;

  /** The address that the provider leads the browser to, which is not opened. */
  async function answered(page: WalkingBrowser): Promise<string> {
    const ann = await colleague();
    provider.signsIn(verified(ann.email));
    const { url } = await page.walk('/sign-in/oidc/idp?next=/about', callback());
    return url;
  }

  it('counts once', async () => {
    const page = browser();
    const url = await answered(page);
    await page.walk(url);
    expect((await page.viewer()).status).toBe(200);
    const { status, text } = await page.walk(url);
    expect(status).toBe(400);
    expect(text).toContain('used already');
  });

  it('counts once, also twice at one moment', async () => {
    const page = browser();
    const url = await answered(page);
    const replies = await Promise.all([page.walk(url, `${service.url}/about`), page.walk(url, `${service.url}/about`)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([0, 400]);
  });

  it('counts in the browser that asked only', async () => {
    const page = browser();
    const url = await answered(page);
    const other = browser();
    expect((await other.walk(url)).text).toContain('not begun in this browser');
    await other.walk('/sign-in/oidc/idp', provider.issuer);
    expect((await other.walk(url)).text).toContain('not begun in this browser');
    expect(other.cookies.has('parley_session')).toBe(false);
  });

  it('counts with its own code only', async () => {
    const page = browser();
    const first = new URL(await answered(page));
    const second = new URL(await answered(page));
    second.searchParams.set('code', first.searchParams.get('code') ?? '');
    expect((await page.walk(second.href)).status).toBe(400);
    expect(page.cookies.has('parley_session')).toBe(false);
  });

  it.each([
    ['a state that nobody signed', { state: 'x' }],
    ['the name of another issuer', { iss: 'https://evil.example' }],
    ['no name of the issuer, where the provider always gives it', { iss: '' }],
    ['a made-up code', { code: 'x'.repeat(43) }],
  ])('is refused with %s', async (_case, change) => {
    const page = browser();
    const url = new URL(await answered(page));
    for (const [name, value] of Object.entries(change)) {
      if (value === '') url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    expect((await page.walk(url.href)).status).toBeGreaterThanOrEqual(400);
    expect(page.cookies.has('parley_session')).toBe(false);
  });

  it('ends the session that the browser had, and brings a new secret', async () => {
    const page = browser();
    await page.walk(await answered(page));
    const before = page.cookies.get('parley_session') ?? '';
    await page.walk(await answered(page));
    expect(page.cookies.get('parley_session')).not.toBe(before);
    page.cookies.set('parley_session', before);
    expect((await page.viewer()).status).toBe(401);
  });
});

describe('groups of a provider', () => {
  const groupsOf = async (userId: string) =>
    (await prisma().groupMember.findMany({ where: { userId }, select: { groupId: true } })).map(({ groupId }) => groupId);

  it('become groups with the same name, and are left at the next sign-in; others stay', async () => {
    const admin = service.client();
    const made = await admin.post('/api/v1/groups', { name: 'sales-team', availability: 'EVERYONE', memberEmails: '' });
    const ann = await colleague();
    const own = await admin.post('/api/v1/groups', { name: 'by hand', availability: 'EVERYONE', memberEmails: ann.email });
    const [sales, hand] = [made.body.id, own.body.id];
    const account = verified(ann.email, { groups: ['sales-team', 'unknown'] });
    provider.signsIn(account);
    await browser().walk('/sign-in/oidc/idp');
    expect((await groupsOf(ann.userId)).sort()).toEqual([sales, hand].sort());
    provider.signsIn({ ...account, groups: [] } as never);
    await browser().walk('/sign-in/oidc/idp');
    expect(await groupsOf(ann.userId)).toEqual([hand]);
  });

  it('are not caught by a group that a member has made', async () => {
    const eve = await colleague();
    await eve.post('/api/v1/groups', { name: 'finance', availability: 'EVERYONE', memberEmails: '' });
    const ann = await colleague();
    provider.signsIn(verified(ann.email, { groups: ['finance'] }));
    await browser().walk('/sign-in/oidc/idp');
    expect(await groupsOf(ann.userId)).toEqual([]);
  });

  it('make an administrator, and the role goes with the group, with the sessions that had it', async () => {
    const ann = await colleague();
    const account = verified(ann.email, { groups: ['parley-admins'] });
    provider.signsIn(account);
    const first = browser();
    await first.walk('/sign-in/oidc/idp');
    expect((await first.viewer()).data.viewer.role).toBe('ADMIN');
    provider.signsIn({ ...account, groups: [] } as never);
    const second = browser();
    await second.walk('/sign-in/oidc/idp');
    expect((await second.viewer()).data.viewer.role).toBe('MEMBER');
    expect((await first.viewer()).status).toBe(401);
  });

  it('take no role that was given in Parley', async () => {
    const ann = await colleague({ role: 'ADMIN' });
    provider.signsIn(verified(ann.email, { groups: [] }));
    const page = browser();
    await page.walk('/sign-in/oidc/idp');
    expect((await page.viewer()).data.viewer.role).toBe('ADMIN');
  });

  it('stand in the audit log', async () => {
    const ann = await colleague();
    provider.signsIn(verified(ann.email, { groups: ['parley-admins'] }));
    const page = browser();
    await page.walk('/sign-in/oidc/idp');
    const { body } = await service.client().get('/api/v1/admin/audit-log');
    const [began, followed] = body.data.filter((entry: { actorUserId: string }) => entry.actorUserId === ann.userId);
    expect(began.action).toBe('signIn');
    expect(followed).toMatchObject({ action: 'followProvider', actorKeyId: began.actorKeyId, targetId: ann.userId });
    expect(followed.changes).toContainEqual({ member: 'role', value: 'ADMIN' });
  });
});

describe('a logout at the provider', () => {
  it('ends the session in Parley before the provider has its answer, and no other', async () => {
    const ann = await colleague();
    const account = verified(ann.email);
    provider.signsIn(account);
    const [page, other] = [browser(), browser()];
    await page.walk('/sign-in/oidc/idp');
    await other.walk('/sign-in/oidc/idp');
    await provider.endSession(page.cookiesAt(provider.issuer));
    expect((await page.viewer()).status).toBe(401);
    expect((await other.viewer()).status).toBe(200);
  });

  it.each([
    ['no token', ''],
    ['a token that nobody signed', 'eyJhbGciOiJub25lIn0.e30.'],
  ])('is refused with %s', async (_case, token) => {
    const { status, body } = await service.nobody.call(
      'POST',
      '/sign-in/oidc/idp/backchannel-logout',
      new URLSearchParams({ logout_token: token }).toString(),
      { 'content-type': 'application/x-www-form-urlencoded' },
    );
    expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_request' });
  });

  it('is where the person goes who signs out of Parley', async () => {
    const ann = await colleague();
    provider.signsIn(verified(ann.email));
    const page = browser();
    await page.walk('/sign-in/oidc/idp');
    const { body } = await page.post('/sign-out', {});
    const url = new URL(body.logoutUrl);
    expect(`${url.origin}${url.pathname}`).toBe(`${provider.issuer}/session/end`);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${service.url}/sign-in`);
    expect((await page.viewer()).status).toBe(401);
  });
});

it('writes no secret into the log', () => {
  expect(lines.some((line) => line.includes('/callback'))).toBe(true);
  expect(lines.filter((line) => /code=|state=|a secret of the client/.test(line))).toEqual([]);
});
