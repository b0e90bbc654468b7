import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Account, startIdentityProvider } from '../../../support/people/identity-provider.ts';
import { startScriptedProvider } from '../../../support/people/scripted-provider.ts';
import { WalkingBrowser } from '../../../support/people/walk.ts';
import { withService } from '../../../support/service.ts';

/** A provider with claims in its id tokens too, whose client is registered for the secret in the body; and one that the tests script. */
const provider = await startIdentityProvider({ hasFullIdTokens: true, clientAuth: 'client_secret_post' });
const scripted = await startScriptedProvider('parley');
scripted.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
const lines: string[] = [];
const { service, make } = await withService('plain', { env: { LOG_LEVEL: 'warn' }, onLog: (line) => lines.push(line) });
let home: { readonly id: string; readonly tenantId: string } = { id: '', tenantId: '' };

beforeAll(async () => {
  const { data } = await service.client().graphql('{ viewer { organization { id tenantId } } }');
  home = data.viewer.organization;
  await service.restart({
    ...{ ...provider.settings('idp'), OIDC_IDP_ORGANIZATION: home.id },
    ...{ OIDC_IDP_GROUPS_CLAIM: 'realm_access.roles', OIDC_IDP_ADMIN_GROUPS: 'parley-admins' },
    ...{ OIDC_SCR_ISSUER: scripted.issuer, OIDC_SCR_CLIENT_ID: 'parley', OIDC_SCR_CLIENT_SECRET: 'with-a_secret.of~signs' },
    OIDC_SCR_ORGANIZATION: home.id,
  });
  provider.register(service.url, 'idp');
});
afterEach(() => {
  provider.userInfoStatus = undefined;
  lines.length = 0;
});
afterAll(() => Promise.all([provider.close(), scripted.close()]));

async function member(): Promise<Account & { readonly email: string; readonly userId: string }> {
  const { email, userId } = await make.person({ organization: home });
  return { sub: `sub of ${email}`, email, email_verified: true, userId };
}
async function signIn(account: Account) {
  provider.signsIn(account);
  const page = new WalkingBrowser(() => service.url);
  const { status, text } = await page.walk('/sign-in/oidc/idp?next=/docs');
  return { page, status, text };
}
const roleOf = async (page: WalkingBrowser) => (await page.viewer()).data?.viewer.role;
const log = () => lines.join('\n');
const roles = (...names: readonly string[]) => ({ realm_access: { roles: names } });

describe('the e-mail', () => {
  it('of the id token is not verified by what the userinfo endpoint says of another one', async () => {
    const victim = await member();
    const eve = { sub: 'eve', email: 'eve@evil.example', email_verified: true };
    const { status, text, page } = await signIn({ ...eve, idToken: { email: victim.email, email_verified: undefined } });
    expect({ status, isRefused: text.includes('not verified') }).toEqual({ status: 403, isRefused: true });
    expect((await page.viewer()).status).toBe(401);
  });

  it('of the id token is verified by what the userinfo endpoint says of the same one', async () => {
    const ann = await member();
    const { page } = await signIn({ ...ann, idToken: { email: ann.email.toUpperCase(), email_verified: undefined } });
    expect((await page.viewer()).data.viewer.user.email).toBe(ann.email);
  });
});

describe('a userinfo endpoint that does not answer', () => {
  it.each([401, 403, 500])('hinders no sign-in without a name, and the log says so: %s', async (status) => {
    const ann = await member();
    provider.userInfoStatus = status;
    const { page } = await signIn({ ...ann, ...roles('a') });
    expect((await page.viewer()).data.viewer.user.email).toBe(ann.email);
    expect(log()).toContain(`gives nothing at its userinfo endpoint (status ${status})`);
  });

  it('changes no groups and no role that the id token does not name', async () => {
    const ann = await member();
    expect(await roleOf((await signIn({ ...ann, ...roles('parley-admins') })).page)).toBe('ADMIN');
    provider.userInfoStatus = 403;
    expect(await roleOf((await signIn(ann)).page)).toBe('ADMIN');
    expect(log()).toContain('the groups of the person stay as they are');
  });
});

describe('groups', () => {
  it('are read at a path, and as paths', async () => {
    const { body: group } = await service
      .client()
      .post('/api/v1/groups', { name: 'eng', availability: 'RESTRICTED', memberEmails: '' });
    const ann = await member();
    const { page } = await signIn({ ...ann, ...roles('/eng', '/other/parley-admins') });
    expect(await roleOf(page)).toBe('MEMBER');
    const { prisma } = service.deps.storage.db;
    expect(await prisma.groupMember.count({ where: { groupId: group.id, userId: ann.userId } })).toBe(1);
    expect(await roleOf((await signIn({ ...ann, ...roles('/parley-admins') })).page)).toBe('ADMIN');
    expect(await prisma.groupMember.count({ where: { groupId: group.id, userId: ann.userId } })).toBe(0);
  });

  it('are none where the claim is absent, and the log warns', async () => {
    const ann = await member();
    expect(await roleOf((await signIn({ ...ann, ...roles('parley-admins') })).page)).toBe('ADMIN');
    expect(log()).toBe('');
    expect(await roleOf((await signIn(ann)).page)).toBe('MEMBER');
    expect(log()).toContain('gives no claim realm_access.roles');
    expect(log()).toContain('OIDC_IDP_GROUPS_CLAIM');
  });

  it('of a long list decide about the role as those of a short one', async () => {
    const ann = await member();
    const many = Array.from({ length: 2_500 }, (_, index) => `group-${index}`);
    expect(await roleOf((await signIn({ ...ann, ...roles(...many, 'parley-admins') })).page)).toBe('ADMIN');
    expect(await roleOf((await signIn({ ...ann, ...roles(...many) })).page)).toBe('MEMBER');
  });
});

describe('a client secret', () => {
  async function signInScripted(): Promise<{ readonly page: WalkingBrowser; readonly status: number }> {
    const { email, sub } = await member();
    scripted.claims = (claims) => ({ ...claims, sub, email, email_verified: true });
    const page = new WalkingBrowser(() => service.url);
    const { url } = await page.walk('/sign-in/oidc/scr?next=/docs', scripted.issuer);
    const { status } = await page.walk(scripted.answerTo(url));
    return { page, status };
  }

  it.each(['client_secret_post', 'client_secret_basic', undefined] as const)(
    'is taken by a provider that offers the header and takes it as %s',
    async (taken) => {
      scripted.clientAuth = taken;
      expect((await signInScripted()).status).toBe(200);
      expect((await signInScripted()).status).toBe(200);
    },
  );

  it('that is refused both ways is told so', async () => {
    scripted.clientAuth = undefined;
    scripted.tokenError = 'invalid_client';
    expect((await signInScripted()).status).toBe(502);
    scripted.tokenError = undefined;
    expect(log()).toContain('in the header (client_secret_basic) and in the body (client_secret_post)');
  });
});
