import { DomainError } from '../../../entities/errors.ts';
import { StartRefusal } from '../../database/start-refusal.ts';

/** A reply of the store that is no success. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly status: number;
  /** What the store calls it, such as `NoSuchKey`; empty when it says nothing. */
  readonly code: string;

  constructor(status: number, code: string, action: string) {
    super(`the store answered ${status}${code === '' ? '' : ` ${code}`} to ${action}`);
    this.status = status;
    this.code = code;
  }
}

const fullCodes = ['XMinioStorageFull', 'QuotaExceeded', 'InsufficientStorage', 'InsufficientCapacity'];
const passingCodes = ['SlowDown', 'RequestTimeout', 'InternalError', 'ServiceUnavailable'];
const passingStatuses = [408, 429, 500, 502, 503, 504];

/** Whether another try may succeed. Errors without a reply are of the connection. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Error)) return true;
  return !isFull(error) && (passingStatuses.includes(error.status) || passingCodes.includes(error.code));
}

export function isMissing(error: unknown): boolean {
  // A reply to HEAD has no body, and so no code.
  return error instanceof S3Error && error.status === 404 && (error.code === '' || error.code === 'NoSuchKey');
}

function isFull(error: S3Error): boolean {
  return error.status === 507 || fullCodes.includes(error.code);
}

/** The error that callers get. What is no fault of theirs, `onFailure` gets whole. */
export function translated(error: unknown, onFailure: (error: Error) => void): unknown {
  if (error instanceof DomainError) return error;
  if (isMissing(error)) return new DomainError('NOT_FOUND', 'The content is gone');
  onFailure(error instanceof Error ? error : new Error(String(error)));
  if (error instanceof S3Error && isFull(error)) return Object.assign(new Error('the file store is full'), { code: 'ENOSPC' });
  return new DomainError('OVERLOADED', 'The service does not reach its file store at the moment; try again shortly', {
    retryAfterSeconds: 1,
  });
}

const reasons: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket. Make it, or correct BLOB_URL',
  InvalidAccessKeyId: 'the store does not know the key. Correct AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret is not that of the key. Correct AWS_SECRET_ACCESS_KEY',
  AccessDenied:
    'the key may not do this. It needs s3:ListBucket, s3:GetObject, s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload',
  ExpiredToken: 'the temporary key is no longer valid. Set a new AWS_SESSION_TOKEN with its key',
  PermanentRedirect: 'the bucket is in another region. Set the region in BLOB_URL or AWS_REGION',
  AuthorizationHeaderMalformed: 'the bucket is in another region. Set the region in BLOB_URL or AWS_REGION',
  RequestTimeTooSkewed: 'the clock of this machine is wrong. Set it',
  ECONNREFUSED: 'nothing listens at its endpoint. Start the store, or correct the endpoint in BLOB_URL',
  ENOTFOUND: 'the host of its endpoint is not known. Correct BLOB_URL; stores without a name for each bucket need pathStyle=true',
  EAI_AGAIN: 'the host of its endpoint could not be looked up. Correct BLOB_URL',
  UND_ERR_CONNECT_TIMEOUT: 'its endpoint does not answer. See whether host, port and firewalls are right',
};

/** Why a start on this bucket is refused. */
export function refusal(bucket: string, error: unknown): StartRefusal {
  const code = error instanceof S3Error ? error.code : codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const reason =
    reasons[code] ?? (error instanceof S3Error && error.status === 403 ? reasons.AccessDenied : undefined) ?? message;
  return new StartRefusal(`The bucket ${bucket} (BLOB_URL) cannot be used: ${reason}.`);
}

function codeOf(error: unknown): string {
  const found = error instanceof AggregateError ? error.errors[0] : error;
  return found instanceof Error && 'code' in found ? String(found.code) : '';
}
