import { isLoopback } from './loopback.ts';

/** A provider of sign-ins by OpenID Connect, from the settings OIDC_<NAME>_…. */
export interface OidcProviderSettings {
  /** In lower case, as in addresses: `/sign-in/oidc/<name>`. */
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** On the button. */
  readonly label: string;
  /** With `openid`, separated by blanks. */
  readonly scopes: string;
  readonly emailVerifiedClaim: string;
  /** Undefined: groups are not read. */
  readonly groupsClaim: string | undefined;
  readonly adminGroups: readonly string[];
  /** Where people sign in that no rule names; undefined: the only organization of the installation. */
  readonly orgId: string | undefined;
  readonly joinRules: readonly JoinRule[];
}

/** People of an e-mail domain become members of an organization when they first sign in. */
export interface JoinRule {
  /** In lower case; `*` is every domain that no other rule names. */
  readonly domain: string;
  readonly orgId: string;
  readonly role: 'MEMBER' | 'ADMIN';
}

/** What each setting of a provider allows and means, by the end of its name. */
export const oidcSettings = {
  ISSUER: {
    allowed: 'an https address such as https://accounts.example.com, or one without TLS on this machine',
    meaning: 'The issuer, exactly as its discovery document writes it. Switches the provider on.',
  },
  CLIENT_ID: { allowed: 'the id of an OAuth client', meaning: 'The client that is registered there for Parley.' },
  CLIENT_SECRET: { allowed: 'the secret of that client', meaning: 'Not for public clients. PKCE is used with and without it.' },
  LABEL: { allowed: 'up to 60 characters', meaning: 'What the button on the sign-in page says. Default: the name.' },
  SCOPES: { allowed: 'scopes with blanks between them', meaning: 'What is asked for. Default: `openid email profile`.' },
  EMAIL_VERIFIED_CLAIM: {
    allowed: 'the name of a claim',
    meaning: 'Says that the e-mail is verified. Default: `email_verified`; Entra ID has `xms_edov` for it.',
  },
  ORGANIZATION: {
    allowed: 'the id of an organization',
    meaning:
      'Where people sign in whose e-mail domain no rule of JOIN names. Default: the organization, where there is only one.',
  },
  JOIN: {
    allowed: 'rules such as example.com=org_…:MEMBER with commas between them; * is every other domain',
    meaning:
      'Who becomes a member at the first sign-in: e-mail domain, organization, and role (MEMBER when it is left out). Default: nobody; members are added by administrators.',
  },
  GROUPS_CLAIM: {
    allowed: 'the name of a claim',
    meaning: 'Lists the groups of a person, which become members of the groups with these names. Default: groups are not read.',
  },
  ADMIN_GROUPS: {
    allowed: 'values of that claim with commas between them',
    meaning: 'People in one of these groups are ADMIN while they are in it. Default: roles are given in Parley.',
  },
} as const;
type OidcSetting = keyof typeof oidcSettings;

const settingNames = Object.keys(oidcSettings) as readonly OidcSetting[];
const namePattern = /^OIDC_([A-Z][A-Z0-9]{0,29})_([A-Z_]{1,40})$/;
const claimPattern = /^[\w.:/-]{1,200}$/;
const scopesPattern = /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/;
const domainPattern = /^(?:\*|(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63})$/;
const orgIdPattern = /^org_[0-9a-z]{26}$/;

/** The parts of the name of a setting of a provider; undefined for other variables, and for ends that mean nothing. */
export function parseOidcSetting(name: string): { readonly provider: string; readonly setting: OidcSetting } | undefined {
  const [, provider, end] = namePattern.exec(name) ?? [];
  const setting = settingNames.find((settingName) => settingName === end);
  return provider === undefined || setting === undefined ? undefined : { provider, setting };
}

/** The variables of an environment whose value is the secret of a client, also where only its file is named. */
export function oidcSecretNames(env: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.keys(env).map((name) => name.replace(/_FILE$/, ''));
  return [...new Set(names.filter((name) => parseOidcSetting(name)?.setting === 'CLIENT_SECRET'))];
}

/**
 * Reads the providers of an environment.
 *
 * @returns those that can be used, by name, and what is wrong with the others, a sentence each.
 */
export function readOidcProviders(env: NodeJS.ProcessEnv): {
  readonly providers: readonly OidcProviderSettings[];
  readonly problems: readonly string[];
} {
  const settingsByProvider = new Map<string, Map<OidcSetting, string>>();
  for (const [name, value] of Object.entries(env)) {
    const parts = parseOidcSetting(name);
    if (parts === undefined || value === undefined || value.trim() === '') continue;
    const ofProvider = settingsByProvider.get(parts.provider) ?? new Map<OidcSetting, string>();
    settingsByProvider.set(parts.provider, ofProvider.set(parts.setting, value.trim()));
  }
  const providers: OidcProviderSettings[] = [];
  const problems: string[] = [];
  for (const [name, values] of [...settingsByProvider].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const providerProblems = listProblems(name, values);
    problems.push(...providerProblems);
    if (providerProblems.length === 0) providers.push(toProvider(name, values));
  }
  return { providers, problems };
}

function listProblems(name: string, values: ReadonlyMap<OidcSetting, string>): readonly string[] {
  const problems: string[] = [];
  const mustBe = (setting: OidcSetting) => problems.push(`OIDC_${name}_${setting} must be ${oidcSettings[setting].allowed}.`);
  for (const setting of ['ISSUER', 'CLIENT_ID'] as const) {
    if (!values.has(setting)) problems.push(`OIDC_${name}_${setting} must be set with the other settings of OIDC_${name}.`);
  }
  const issuer = values.get('ISSUER');
  if (issuer !== undefined && !isIssuer(issuer)) mustBe('ISSUER');
  if ((values.get('LABEL')?.length ?? 0) > 60) mustBe('LABEL');
  if (!scopesPattern.test(values.get('SCOPES') ?? 'openid')) mustBe('SCOPES');
  for (const setting of ['GROUPS_CLAIM', 'EMAIL_VERIFIED_CLAIM'] as const) {
    if (!claimPattern.test(values.get(setting) ?? 'claim')) mustBe(setting);
  }
  const orgId = values.get('ORGANIZATION');
  if (orgId !== undefined && !orgIdPattern.test(orgId)) mustBe('ORGANIZATION');
  if (parseJoinRules(values.get('JOIN') ?? '') === undefined) mustBe('JOIN');
  if (values.has('ADMIN_GROUPS') && !values.has('GROUPS_CLAIM')) {
    problems.push(`OIDC_${name}_GROUPS_CLAIM must be set with OIDC_${name}_ADMIN_GROUPS: it names the claim with the groups.`);
  }
  return problems;
}

function toProvider(name: string, values: ReadonlyMap<OidcSetting, string>): OidcProviderSettings {
  const scopes = (values.get('SCOPES') ?? 'openid email profile').split(/ +/);
  return {
    name: name.toLowerCase(),
    issuer: values.get('ISSUER') ?? '',
    clientId: values.get('CLIENT_ID') ?? '',
    clientSecret: values.get('CLIENT_SECRET'),
    label: values.get('LABEL') ?? name.charAt(0) + name.slice(1).toLowerCase(),
    scopes: [...new Set(['openid', ...scopes])].join(' '),
    emailVerifiedClaim: values.get('EMAIL_VERIFIED_CLAIM') ?? 'email_verified',
    groupsClaim: values.get('GROUPS_CLAIM'),
    adminGroups: parseList(values.get('ADMIN_GROUPS') ?? ''),
    orgId: values.get('ORGANIZATION'),
    joinRules: parseJoinRules(values.get('JOIN') ?? '') ?? [],
  };
}

/** Codes and tokens go to this address, so it needs TLS outside this machine. */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username } = new URL(text);
  if (search !== '' || hash !== '' || username !== '' || hostname === '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** Undefined when a rule cannot be read, or a domain has two. */
function parseJoinRules(text: string): readonly JoinRule[] | undefined {
  const rules: JoinRule[] = [];
  for (const entry of parseList(text)) {
    const [domain = '', place = '', ...rest] = entry.split('=').map((part) => part.trim());
    const [orgId = '', role = 'MEMBER', ...more] = place.split(':').map((part) => part.trim());
    const isRead = domainPattern.test(domain.toLowerCase()) && orgIdPattern.test(orgId) && rest.length + more.length === 0;
    if (!isRead || (role !== 'MEMBER' && role !== 'ADMIN')) return undefined;
    rules.push({ domain: domain.toLowerCase(), orgId, role });
  }
  return new Set(rules.map(({ domain }) => domain)).size === rules.length ? rules : undefined;
}

function parseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
