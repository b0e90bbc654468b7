import { readString } from '../../../lib/json/json.ts';
import { type FetchCredentials, type IdentityCalls, IdentityError, type ReadEnvironment, readToken } from './identity.ts';
import type { TimedCredentials } from './renewed-credentials.ts';

export interface AzureIdentityOptions {
  /** Whether the managed identity of the machine may be used, by its metadata service. */
  readonly usesInstanceMetadata: boolean;
}

const resource = 'https://cognitiveservices.azure.com';
const authorityHost = 'https://login.microsoftonline.com';
const metadataHost = 'http://169.254.169.254';

/** An access token of Entra ID: by the federated token of a pod, by the managed identity of an app or container, or by that of the machine. */
export function fetchAzureToken(
  environment: ReadEnvironment,
  { usesInstanceMetadata }: AzureIdentityOptions,
  now: () => Date,
): FetchCredentials<string> {
  return async (calls) => {
    const tokenFile = environment('AZURE_FEDERATED_TOKEN_FILE');
    if (tokenFile !== undefined) return toToken(await exchange(calls, environment, tokenFile), now);
    const endpoint = environment('IDENTITY_ENDPOINT');
    const secret = environment('IDENTITY_HEADER');
    if (endpoint !== undefined && secret !== undefined) {
      return toToken(await managed(calls, environment, endpoint, '2019-08-01', { 'x-identity-header': secret }), now);
    }
    if (usesInstanceMetadata) {
      const host = environment('AZURE_POD_IDENTITY_AUTHORITY_HOST') ?? metadataHost;
      const url = `${host.replace(/(?<!\/)\/+$/, '')}/metadata/identity/oauth2/token`;
      return toToken(await managed(calls, environment, url, '2018-02-01', { metadata: 'true' }), now);
    }
    throw new IdentityError(
      'Azure gave this process no identity: set AZURE_FEDERATED_TOKEN_FILE, AZURE_TENANT_ID and AZURE_CLIENT_ID, or IDENTITY_ENDPOINT and IDENTITY_HEADER, or "instanceMetadata": true in MODELS_FILE',
    );
  };
}

/** https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, the case with a federated credential. */
async function exchange(calls: IdentityCalls, environment: ReadEnvironment, tokenFile: string) {
  const [tenantId, clientId] = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID'].map((name) => {
    const value = environment(name);
    if (value === undefined) throw new IdentityError(`AZURE_FEDERATED_TOKEN_FILE is set, but ${name} is not`);
    return value;
  }) as [string, string];
  const host = (environment('AZURE_AUTHORITY_HOST') ?? authorityHost).replace(/(?<!\/)\/+$/, '');
  return calls.json({
    method: 'POST',
    url: `${host}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`,
    form: {
      ...{ grant_type: 'client_credentials', client_id: clientId, scope: `${resource}/.default` },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await readToken(tokenFile, 'AZURE_FEDERATED_TOKEN_FILE'),
    },
  });
}

async function managed(
  calls: IdentityCalls,
  environment: ReadEnvironment,
  endpoint: string,
  apiVersion: string,
  headers: Readonly<Record<string, string>>,
) {
  const url = new URL(endpoint);
  url.searchParams.set('api-version', apiVersion);
  url.searchParams.set('resource', resource);
  // One of several identities that the operator gave to it.
  const clientId = environment('AZURE_CLIENT_ID');
  if (clientId !== undefined) url.searchParams.set('client_id', clientId);
  return calls.localJson({ method: 'GET', url: url.href, headers });
}

/** Entra ID says how long a token lives, managed identities say when it ends, in seconds and as text. */
function toToken(reply: Readonly<Record<string, unknown>>, now: () => Date): TimedCredentials<string> {
  const value = readString(reply.access_token);
  const [endsAt, lives] = [Number(reply.expires_on), Number(reply.expires_in)];
  const expiresAtMs = Number.isFinite(endsAt) ? endsAt * 1_000 : now().getTime() + lives * 1_000;
  if (value === undefined || !Number.isFinite(expiresAtMs)) throw new IdentityError('Azure answers without an access token');
  return { value, expiresAtMs };
}
