import { describe, expect, it } from 'vitest';
import { loadSettings, settingsProblems } from '../../../src/settings.ts';
import { mistypedSettings } from '../../../src/start/checks/mistyped.ts';

const orgId = `org_${'0'.repeat(26)}`;
const base = { OIDC_IDP_ISSUER: 'https://id.example.com', OIDC_IDP_CLIENT_ID: 'parley' };

describe('settings of providers', () => {
  it('make a provider each, by name', () => {
    const { oidcProviders } = loadSettings({
      ...base,
      OIDC_IDP_JOIN: `Example.com=${orgId}, *=${orgId}:ADMIN`,
      OIDC_ACME2_ISSUER: 'http://127.0.0.1:9000/realm',
      OIDC_ACME2_CLIENT_ID: 'x',
      OIDC_ACME2_LABEL: 'Acme',
    });
    expect(oidcProviders.map(({ name, label }) => [name, label])).toEqual([
      ['acme2', 'Acme'],
      ['idp', 'Idp'],
    ]);
    expect(oidcProviders[1]).toMatchObject({
      scopes: 'openid email profile',
      joinRules: [
        { domain: 'example.com', orgId, role: 'MEMBER' },
        { domain: '*', orgId, role: 'ADMIN' },
      ],
    });
  });

  it.each([
    ['no client', { OIDC_IDP_CLIENT_ID: '' }, 'OIDC_IDP_CLIENT_ID must be set'],
    ['an issuer without TLS elsewhere', { OIDC_IDP_ISSUER: 'http://id.example.com' }, 'OIDC_IDP_ISSUER must be an https address'],
    ['an issuer with a query', { OIDC_IDP_ISSUER: 'https://id.example.com/?x' }, 'OIDC_IDP_ISSUER must be'],
    ['a rule without an organization', { OIDC_IDP_JOIN: 'example.com' }, 'OIDC_IDP_JOIN must be rules'],
    ['a rule with an unknown role', { OIDC_IDP_JOIN: `example.com=${orgId}:OWNER` }, 'OIDC_IDP_JOIN must be rules'],
    ['two rules for one domain', { OIDC_IDP_JOIN: `a.com=${orgId},a.com=${orgId}` }, 'OIDC_IDP_JOIN must be rules'],
    ['groups of administrators without a claim', { OIDC_IDP_ADMIN_GROUPS: 'a' }, 'OIDC_IDP_GROUPS_CLAIM must be set'],
    ['a secret and its file', { OIDC_IDP_CLIENT_SECRET: 'a', OIDC_IDP_CLIENT_SECRET_FILE: '/x' }, 'are both set'],
  ])('are refused with %s', (_case, change, problem) => {
    expect(settingsProblems({ ...base, ...change }).join('\n')).toContain(problem);
    expect(() => loadSettings({ ...base, ...change })).toThrow(problem);
  });

  it('show no secret in a refusal', () => {
    const problems = settingsProblems({ ...base, OIDC_IDP_CLIENT_SECRET: 'hush-hush-hush', OIDC_IDP_JOIN: 'x' });
    expect(problems.join('\n')).not.toContain('hush');
  });

  it.each([
    ['OIDC_IDP_CLIENTID', 'OIDC_IDP_CLIENT_ID'],
    ['OIDC_IDP_CLIENT_SECRE', 'OIDC_IDP_CLIENT_SECRET'],
    ['OIDC_IDP_ISUER', 'OIDC_IDP_ISSUER'],
    ['OIDC_MY_IDP_ISSUER', 'OIDC_MYIDP_ISSUER'],
  ])('are told when they are mistyped: %s', (name, meant) => {
    expect(mistypedSettings({ [name]: 'x' })).toEqual([{ name, meant }]);
    expect(mistypedSettings({ ...base, OIDC_IDP_CLIENT_SECRET_FILE: '/x' })).toEqual([]);
  });
});
