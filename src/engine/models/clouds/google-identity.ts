import { z } from 'zod';
import { membersOf, readString } from '../../../lib/json/json.ts';
import { type FetchCredentials, type IdentityCalls, IdentityError, type ReadEnvironment, readToken } from './identity.ts';
import type { TimedCredentials } from './renewed-credentials.ts';

export interface GoogleIdentityOptions {
  /** Whether the service account of the machine may be used, by its metadata server. */
  readonly usesInstanceMetadata: boolean;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const metadataHost = 'metadata.google.internal';

const format = z
  .object({ type: z.enum(['text', 'json']), subject_token_field_name: z.string().optional() })
  .default({ type: 'text' });
const address = z.url({ protocol: /^https?$/ });
/** The file that `gcloud iam workload-identity-pools create-cred-config` writes. Members that decide nothing here are left alone. */
const federation = z.object({
  type: z.literal('external_account', 'must be external_account: keys of service accounts are not taken'),
  audience: z.string(),
  subject_token_type: z.string(),
  token_url: address,
  service_account_impersonation_url: address.optional(),
  credential_source: z.union(
    [
      z.object({ file: z.string(), format }),
      z.object({ url: address, headers: z.record(z.string(), z.string()).default({}), format }),
    ],
    'must have a file or a url',
  ),
});
type Federation = z.infer<typeof federation>;

/**
 * An access token of Google Cloud: by workload identity federation, whose file says where a token of another provider lies and where it is exchanged, or by
 * the metadata server (GKE, Cloud Run, Compute Engine). Not by Google's library, which makes some of these calls without the proxies of this service.
 */
export function fetchGoogleToken(
  environment: ReadEnvironment,
  { usesInstanceMetadata }: GoogleIdentityOptions,
  now: () => Date,
): FetchCredentials<string> {
  return async (calls) => {
    const path = environment('GOOGLE_APPLICATION_CREDENTIALS');
    if (path !== undefined) return federatedToken(calls, await readFederation(path), now);
    if (usesInstanceMetadata) return metadataToken(calls, environment('GCE_METADATA_HOST') ?? metadataHost, now);
    throw new IdentityError(
      'Google gave this process no identity: set GOOGLE_APPLICATION_CREDENTIALS, or "instanceMetadata": true in MODELS_FILE',
    );
  };
}

async function readFederation(path: string): Promise<Federation> {
  const content = await readToken(path, 'GOOGLE_APPLICATION_CREDENTIALS');
  let file: unknown;
  try {
    file = JSON.parse(content);
  } catch {
    throw new IdentityError(`GOOGLE_APPLICATION_CREDENTIALS names ${path}, which is no JSON`);
  }
  const result = federation.safeParse(file);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`).join('; ');
  throw new IdentityError(`GOOGLE_APPLICATION_CREDENTIALS names ${path}, which is wrong: ${faults}`);
}

/** https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token (RFC 8693), and then as the service account, where the file names one. */
async function federatedToken(calls: IdentityCalls, file: Federation, now: () => Date): Promise<TimedCredentials<string>> {
  const reply = await calls.json({
    method: 'POST',
    url: file.token_url,
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      ...{ audience: file.audience, scope, subject_token_type: file.subject_token_type },
      subject_token: await subjectToken(calls, file.credential_source),
    },
  });
  const federated = toToken(reply, file.token_url, now);
  const account = file.service_account_impersonation_url;
  if (account === undefined) return federated;
  const { accessToken, expireTime } = await calls.json({
    ...{ method: 'POST', url: account, json: { scope: [scope] } },
    headers: { authorization: `Bearer ${federated.value}` },
  });
  const value = readString(accessToken);
  const expiresAtMs = Date.parse(readString(expireTime) ?? '');
  if (value === undefined || Number.isNaN(expiresAtMs)) {
    throw new IdentityError(`${new URL(account).origin} answers without an access token`);
  }
  return { value, expiresAtMs };
}

async function subjectToken(calls: IdentityCalls, source: Federation['credential_source']): Promise<string> {
  const isFile = 'file' in source;
  const from = isFile ? source.file : source.url;
  const text = isFile
    ? await readToken(source.file, 'credential_source.file')
    : await calls.localText({ method: 'GET', url: source.url, headers: source.headers });
  if (source.format.type === 'text') return text.trim();
  let token: string | undefined;
  try {
    token = readString(membersOf(JSON.parse(text))[source.format.subject_token_field_name ?? 'access_token']);
  } catch {
    token = undefined;
  }
  if (token === undefined) throw new IdentityError(`${from} has no token at ${source.format.subject_token_field_name}`);
  return token;
}

/** https://cloud.google.com/compute/docs/metadata: refuses calls without its header. */
async function metadataToken(calls: IdentityCalls, host: string, now: () => Date): Promise<TimedCredentials<string>> {
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(scope)}`;
  return toToken(await calls.localJson({ method: 'GET', url, headers: { 'metadata-flavor': 'Google' } }), url, now);
}

function toToken(reply: Readonly<Record<string, unknown>>, url: string, now: () => Date): TimedCredentials<string> {
  const value = readString(reply.access_token);
  const expiresAtMs = now().getTime() + Number(reply.expires_in) * 1_000;
  if (value === undefined || !Number.isFinite(expiresAtMs)) {
    throw new IdentityError(`${new URL(url).origin} answers without an access token`);
  }
  return { value, expiresAtMs };
}
