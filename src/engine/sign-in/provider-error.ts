import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import type { OidcProviderSettings } from '../../lib/settings/oidc-settings.ts';
import { EgressError } from '../egress/error.ts';

/** A sign-in by a provider failed. The message is for the visitor. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  /** A sentence for the administrator, without secrets, with what to do; undefined where nothing is wrong with the installation. */
  readonly advice: string | undefined;

  constructor(message: string, advice?: string) {
    super(message);
    this.advice = advice;
  }
}

/** What a failure of the protocol, or on the way to the provider, means. */
export function toProviderError(provider: OidcProviderSettings, error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  const causes = listCauses(error);
  const egress = causes.find((cause) => cause instanceof EgressError);
  if (egress !== undefined) return unreachable(provider, egress);
  const body = causes.find((cause) => cause instanceof ResponseBodyError);
  if (body !== undefined) return refusedRequest(provider, body.error);
  const answer = causes.find((cause) => cause instanceof AuthorizationResponseError);
  if (answer !== undefined) return refusedPerson(provider, answer.error);
  const codes = causes.map((cause) => ('code' in cause && typeof cause.code === 'string' ? cause.code : ''));
  return byCode(provider, codes, causes);
}

function byCode(provider: OidcProviderSettings, codes: readonly string[], causes: readonly Error[]): ProviderError {
  const { label } = provider;
  const has = (...candidateCodes: readonly string[]) => candidateCodes.some((code) => codes.includes(code));
  const settings = `OIDC_${provider.name.toUpperCase()}_`;
  const claim = findComparison(causes);
  if (has('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') && claim?.attribute === 'issuer') {
    const issuerName = typeof claim.issuer === 'string' ? claim.issuer.slice(0, 200) : 'another issuer';
    return misconfigured(
      provider,
      `its discovery document says that the issuer is ${issuerName}: set ${settings}ISSUER to exactly that`,
    );
  }
  if (has('OAUTH_JWT_TIMESTAMP_CHECK_FAILED', 'ERR_JWT_EXPIRED')) {
    return misconfigured(
      provider,
      'its token is expired or not valid yet: compare the clock of this machine with the true time (more than 30 seconds are too many)',
    );
  }
  if (has('OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_PARSE_ERROR')) {
    return misconfigured(provider, `it does not answer as OpenID Connect says: see whether ${settings}ISSUER is right`);
  }
  if (has('OAUTH_KEY_SELECTION_FAILED', 'ERR_JWKS_NO_MATCHING_KEY', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED')) {
    return misconfigured(provider, 'its token is signed with a key that it does not publish: ask who runs it');
  }
  // Of the browser, or of somebody who wrote the answer: state, nonce, audience, the issuer in the answer, a signature.
  const reasonText = causes.map(({ message }) => message).at(-1) ?? 'no reason';
  const what = claim?.claim === undefined ? reasonText : `the claim ${claim.claim} is another`;
  return new ProviderError(
    `The answer of ${label} does not belong to this sign-in. Begin again.`,
    `The provider ${provider.name} was answered for with an answer that is refused (${what.slice(0, 200)}). When it happens to everybody, compare ${settings}ISSUER and ${settings}CLIENT_ID with the provider's.`,
  );
}

function unreachable(provider: OidcProviderSettings, { code, message }: EgressError): ProviderError {
  const doing =
    code === 'FORBIDDEN_ADDRESS'
      ? 'the hosts that its discovery document names must be public, or stand in EGRESS_ALLOW'
      : `see whether it runs, whether OIDC_${provider.name.toUpperCase()}_ISSUER is right, and whether this machine reaches it`;
  return new ProviderError(
    `${provider.label} does not answer at the moment. Try again in a minute, or sign in another way.`,
    `The provider ${provider.name} cannot be asked (${message}): ${doing}.`,
  );
}

function refusedRequest(provider: OidcProviderSettings, error: string): ProviderError {
  if (error === 'invalid_grant') {
    return new ProviderError(`This sign-in by ${provider.label} was used already, or took too long. Begin again.`);
  }
  if (error === 'invalid_client' || error === 'unauthorized_client') return refusedClient(provider);
  return misconfigured(provider, `it refuses a request (${error.slice(0, 60)}): compare the client that is registered there`);
}

/** The token endpoint takes the client in no way. */
export function refusedClient(provider: OidcProviderSettings): ProviderError {
  const settings = `OIDC_${provider.name.toUpperCase()}_`;
  const reasonText =
    provider.clientSecret === undefined
      ? `it refuses the client, which shows no secret: correct ${settings}CLIENT_ID and ${settings}CLIENT_SECRET`
      : `it refuses the client, with the secret in the header (client_secret_basic) and in the body (client_secret_post): correct ${settings}CLIENT_ID and ${settings}CLIENT_SECRET`;
  return misconfigured(provider, reasonText);
}

function refusedPerson({ label, name }: OidcProviderSettings, error: string): ProviderError {
  if (/^(?:access_denied|login_required|interaction_required|consent_required)$/.test(error)) {
    return new ProviderError(`${label} did not sign you in.`);
  }
  const word = error.slice(0, 60);
  return new ProviderError(
    `${label} did not sign you in. An administrator finds the reason in the log.`,
    `The provider ${name} refuses a sign-in (${word}): compare the client that is registered there, its redirect address and its scopes.`,
  );
}

/** The settings or the provider must be mended before anybody can sign in. */
function misconfigured({ label, name }: OidcProviderSettings, reason: string): ProviderError {
  return new ProviderError(
    `Signing in by ${label} does not work at the moment. An administrator finds the reason in the log.`,
    `The provider ${name} cannot be used: ${reason}.`,
  );
}

/** What the library compared, as it hangs on its errors. */
function findComparison(causes: readonly Error[]): { attribute?: unknown; claim?: string; issuer?: unknown } | undefined {
  for (const { cause } of causes) {
    if (typeof cause !== 'object' || cause === null || cause instanceof Error) continue;
    const { attribute, claim, body } = cause as { attribute?: unknown; claim?: unknown; body?: { issuer?: unknown } };
    if (attribute !== undefined || claim !== undefined) {
      return { attribute, issuer: body?.issuer, ...(typeof claim === 'string' ? { claim } : {}) };
    }
  }
  return undefined;
}

export function listCauses(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 6; cause = cause.cause) causes.push(cause);
  return causes;
}

/** The status of the answer that an error of the library is about. */
export function findStatus(error: unknown): number | undefined {
  for (const cause of listCauses(error)) {
    if ('status' in cause && typeof cause.status === 'number') return cause.status;
    if (cause.cause instanceof Response) return cause.cause.status;
  }
  return undefined;
}
