import { readString } from '../../../lib/json/json.ts';
import { type FetchCredentials, type IdentityCalls, IdentityError, type ReadEnvironment, readToken } from './identity.ts';
import type { TimedCredentials } from './renewed-credentials.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

export interface AwsIdentityOptions {
  readonly region: string;
  /** Whether the role of the machine may be used, by IMDSv2. */
  readonly usesInstanceMetadata: boolean;
}

const containerHost = 'http://169.254.170.2';
const metadataHost = 'http://169.254.169.254';
const metadataTokenSeconds = '21600';

/**
 * Credentials of a role: by the token file of a pod (IRSA, or any OIDC federation), of the container (ECS, EKS Pod Identity), of the machine (EC2). Keys in
 * AWS_ACCESS_KEY_ID are not used: they are those of the store of files.
 */
export function fetchAwsCredentials(environment: ReadEnvironment, options: AwsIdentityOptions): FetchCredentials<AwsCredentials> {
  return async (calls) => {
    const tokenFile = environment('AWS_WEB_IDENTITY_TOKEN_FILE');
    if (tokenFile !== undefined) return assumeRole(calls, environment, options.region, tokenFile);
    const fullUri = environment('AWS_CONTAINER_CREDENTIALS_FULL_URI');
    const relativeUri = environment('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
    const uri = fullUri ?? (relativeUri === undefined ? undefined : containerHost + relativeUri);
    if (uri !== undefined) return containerCredentials(calls, environment, uri);
    if (options.usesInstanceMetadata) {
      return instanceCredentials(calls, environment('AWS_EC2_METADATA_SERVICE_ENDPOINT') ?? metadataHost);
    }
    throw new IdentityError(
      'AWS gave this process no identity: set AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or AWS_CONTAINER_CREDENTIALS_FULL_URI, or "instanceMetadata": true in MODELS_FILE',
    );
  };
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html: the one call of STS that nobody signs. */
async function assumeRole(
  calls: IdentityCalls,
  environment: ReadEnvironment,
  region: string,
  tokenFile: string,
): Promise<TimedCredentials<AwsCredentials>> {
  const roleArn = environment('AWS_ROLE_ARN');
  if (roleArn === undefined) throw new IdentityError('AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not');
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const xml = await calls.text({
    method: 'POST',
    url: environment('AWS_ENDPOINT_URL_STS') ?? `https://sts.${region}.${domain}/`,
    form: {
      ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleArn: roleArn },
      RoleSessionName: environment('AWS_ROLE_SESSION_NAME') ?? 'parley',
      WebIdentityToken: await readToken(tokenFile, 'AWS_WEB_IDENTITY_TOKEN_FILE'),
    },
  });
  const read = (name: string) => new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(xml)?.[1];
  return toCredentials(read('AccessKeyId'), read('SecretAccessKey'), read('SessionToken'), read('Expiration'), 'STS');
}

async function containerCredentials(
  calls: IdentityCalls,
  environment: ReadEnvironment,
  uri: string,
): Promise<TimedCredentials<AwsCredentials>> {
  const tokenFile = environment('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const token =
    tokenFile === undefined
      ? environment('AWS_CONTAINER_AUTHORIZATION_TOKEN')
      : await readToken(tokenFile, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
  const headers = token === undefined ? {} : { authorization: token };
  return fromJson(await calls.localJson({ method: 'GET', url: uri, headers }), new URL(uri).origin);
}

/** IMDSv2 only: the older way answers whoever makes this process call an address. */
async function instanceCredentials(calls: IdentityCalls, host: string): Promise<TimedCredentials<AwsCredentials>> {
  const base = `${host.replace(/(?<!\/)\/+$/, '')}/latest`;
  const token = await calls.localText({
    ...{ method: 'PUT', url: `${base}/api/token` },
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': metadataTokenSeconds },
  });
  const headers = { 'x-aws-ec2-metadata-token': token };
  const url = `${base}/meta-data/iam/security-credentials/`;
  const role = (await calls.localText({ method: 'GET', url, headers })).split('\n')[0]?.trim() ?? '';
  if (role === '') throw new IdentityError('this machine has no role');
  return fromJson(await calls.localJson({ method: 'GET', url: url + encodeURIComponent(role), headers }), base);
}

function fromJson(reply: Readonly<Record<string, unknown>>, from: string): TimedCredentials<AwsCredentials> {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = reply;
  return toCredentials(readString(AccessKeyId), readString(SecretAccessKey), readString(Token), readString(Expiration), from);
}

function toCredentials(
  accessKeyId: string | undefined,
  secretAccessKey: string | undefined,
  sessionToken: string | undefined,
  expiration: string | undefined,
  from: string,
): TimedCredentials<AwsCredentials> {
  const expiresAtMs = Date.parse(expiration ?? '');
  if (accessKeyId === undefined || secretAccessKey === undefined || sessionToken === undefined || Number.isNaN(expiresAtMs)) {
    throw new IdentityError(`${from} answers without credentials`);
  }
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expiresAtMs };
}
