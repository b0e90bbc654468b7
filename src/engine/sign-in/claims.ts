import * as oidc from 'openid-client';
import type { OidcProviderSettings } from '../../lib/settings/oidc-settings.ts';
import { EgressError } from '../egress/error.ts';
import { findStatus, listCauses } from './provider-error.ts';

/** What a provider says of a person. */
export interface ProvidedPerson {
  readonly issuer: string;
  readonly subject: string;
  /** The id of the session at the provider, for back-channel logout. */
  readonly sessionId: string | undefined;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  /** Undefined where groups are not read, or the provider could not list them all. A path (`/eng`) stands there without its first slash too. */
  readonly groups: readonly string[] | undefined;
  /** Sentences for the administrator: what was missing, and what that means. */
  readonly warnings: readonly string[];
}

type Claims = Readonly<Record<string, unknown>>;
/** The claims of the userinfo endpoint, or why there are none; neither where it was not asked. */
interface UserInfo {
  readonly claims: Claims;
  readonly problem?: string;
}

/** What the id token says, and the userinfo endpoint where claims are missing: many providers give some there only. Without its answer the id token counts alone. */
export async function loadPerson(
  config: oidc.Configuration,
  settings: OidcProviderSettings,
  idToken: oidc.IDToken,
  accessToken: string,
): Promise<ProvidedPerson> {
  const userInfo = await readUserInfo(config, settings, accessToken, idToken);
  const { email, isEmailVerified } = findEmail(settings, [idToken, userInfo.claims]);
  const { groups, warning } = readGroups(settings, idToken, userInfo);
  const name = readText(idToken.name, 200) ?? readText(userInfo.claims.name, 200);
  const { problem } = userInfo;
  const missingInfoMessage = `the provider ${settings.name} gives nothing at its userinfo endpoint (${problem}): only the claims of the id token count`;
  return {
    issuer: idToken.iss,
    subject: idToken.sub,
    sessionId: readText(idToken.sid, 300),
    ...{ email, isEmailVerified, name: name?.trim(), groups },
    warnings: [problem === undefined ? undefined : missingInfoMessage, warning].filter((text) => text !== undefined),
  };
}

/** @throws what the library throws for an answer about another person. */
async function readUserInfo(
  config: oidc.Configuration,
  { groupsClaim, emailVerifiedClaim }: OidcProviderSettings,
  accessToken: string,
  idToken: oidc.IDToken,
): Promise<UserInfo> {
  const claimNames = ['email', emailVerifiedClaim, 'name', ...(groupsClaim === undefined ? [] : [groupsClaim])];
  const isComplete = claimNames.every((name) => claimAt(idToken, name) !== undefined);
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return { claims: {} };
  try {
    return { claims: await oidc.fetchUserInfo(config, accessToken, idToken.sub) };
  } catch (error) {
    const problem = describeProblem(error);
    if (problem === undefined) throw error;
    return { claims: {}, problem };
  }
}

/** Why the endpoint cannot be used; undefined for an answer that is about somebody else. */
function describeProblem(error: unknown): string | undefined {
  const causes = listCauses(error);
  if (causes.some((cause) => 'code' in cause && cause.code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED')) return undefined;
  const status = findStatus(error);
  if (status !== undefined) return `status ${status}`;
  const egress = causes.find((cause) => cause instanceof EgressError);
  return (egress ?? causes.at(-1))?.message.slice(0, 200) ?? 'no reason';
}

/** The word that an e-mail is verified counts for the e-mail that stands beside it, wherever the other one was read. */
function findEmail(
  { emailVerifiedClaim }: OidcProviderSettings,
  sources: readonly Claims[],
): { readonly email: string | undefined; readonly isEmailVerified: boolean } {
  const emailIn = (claims: Claims) => readText(claims.email, 320)?.trim().toLowerCase();
  const email = sources.map(emailIn).find((candidate) => candidate !== undefined);
  if (email === undefined) return { email, isEmailVerified: false };
  const words = sources.filter((claims) => emailIn(claims) === email).map((claims) => claimAt(claims, emailVerifiedClaim));
  const word = words.find((said) => said !== undefined && said !== null);
  return { email, isEmailVerified: [true, 'true', 1, '1'].includes(word as string) };
}

function readGroups(
  { name, groupsClaim }: OidcProviderSettings,
  idToken: Claims,
  { claims, problem }: UserInfo,
): { readonly groups: readonly string[] | undefined; readonly warning?: string } {
  if (groupsClaim === undefined) return { groups: undefined };
  const value = claimAt(idToken, groupsClaim) ?? claimAt(claims, groupsClaim);
  if (value === undefined || value === null) {
    const setting = `OIDC_${name.toUpperCase()}_GROUPS_CLAIM`;
    const missing = `the provider ${name} gives no claim ${groupsClaim}`;
    // Entra ID leaves a long list out, and says where it could be asked for: nothing is known of the groups then.
    if (isElsewhere(idToken, groupsClaim) || isElsewhere(claims, groupsClaim)) {
      return {
        groups: undefined,
        warning: `${missing}, and says that the list is elsewhere: the groups of the person stay as they are`,
      };
    }
    if (problem !== undefined) return { groups: undefined, warning: `${missing}: the groups of the person stay as they are` };
    return {
      groups: [],
      warning: `${missing} for a person, who is in no group by it then: when it happens to everybody, correct ${setting}, or let the provider give it`,
    };
  }
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const names = values.filter((text) => typeof text === 'string' && text !== '') as readonly string[];
  return { groups: [...new Set(names.flatMap((path) => (path.startsWith('/') ? [path, path.slice(1)] : [path])))] };
}

function isElsewhere({ _claim_names: names }: Claims, claim: string): boolean {
  return typeof names === 'object' && names !== null && claim in names;
}

/** A claim by its name, which may have dots of its own, else by a path: `realm_access.roles`. */
export function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const inside: unknown = Object.hasOwn(claims, name.slice(0, dot)) ? claims[name.slice(0, dot)] : undefined;
    if (typeof inside !== 'object' || inside === null || Array.isArray(inside)) continue;
    const innerClaim = claimAt(inside as Claims, name.slice(dot + 1));
    if (innerClaim !== undefined) return innerClaim;
  }
  return undefined;
}

function readText(value: unknown, most: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= most ? value : undefined;
}
