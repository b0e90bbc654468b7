import { membersOf, readElements, readString } from '../../../../lib/json/json.ts';
import { SourceError } from '../error.ts';
import { parseWait, type ServiceReply } from '../service-client/client.ts';

const hourMs = 3_600_000;

/** What a refusal of Google Drive means. Limits of speed and missing rights have one status, 403: the reason in the body tells them apart. */
export function driveRefusal(reply: ServiceReply): SourceError | undefined {
  if (reply.status !== 403) return undefined;
  const reasons = new Set(readReasons(reply.body));
  const has = (...names: readonly string[]) => names.some((name) => reasons.has(name));
  if (has('userRateLimitExceeded', 'rateLimitExceeded')) {
    const wait = parseWait(reply.headers['retry-after']);
    return new SourceError('RATE_LIMITED', 'Google Drive asks to be called less often. It is tried again later.', wait);
  }
  if (has('dailyLimitExceeded', 'quotaExceeded', 'downloadQuotaExceeded')) {
    return new SourceError('RATE_LIMITED', 'The daily limit of Google Drive is reached. It is tried again later.', hourMs);
  }
  if (has('exportSizeLimitExceeded')) {
    return new SourceError('TOO_LARGE', 'The document is larger than the 10 MB that Google exports.');
  }
  if (has('fileNotDownloadable')) return new SourceError('UNSUPPORTED', 'Google Drive gives no content for this kind of file.');
  if (has('cannotDownloadAbusiveFile')) {
    return new SourceError('FORBIDDEN', 'Google Drive holds the file for harmful and does not let it be downloaded.');
  }
  if (has('cannotDownloadFile')) {
    return new SourceError('FORBIDDEN', 'Its owner does not let the connected account download the file.');
  }
  if (has('accessNotConfigured', 'SERVICE_DISABLED')) {
    return new SourceError(
      'CONFIGURATION',
      'The operator has to switch on the Google Drive API in the project of GOOGLE_CLIENT_ID.',
    );
  }
  if (has('insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT')) {
    return new SourceError('AUTH', 'The connection does not allow Google Drive to be read: connect it again, and agree to that.');
  }
  return undefined;
}

/** `errors[].reason` of the older form and `details[].reason` of the newer one. */
function readReasons(body: Buffer): readonly string[] {
  let error: ReturnType<typeof membersOf>;
  try {
    error = membersOf(membersOf(JSON.parse(body.toString('utf8'))).error);
  } catch {
    return [];
  }
  return [...readElements(error.errors), ...readElements(error.details)].flatMap(
    (one) => readString(membersOf(one).reason) ?? [],
  );
}
