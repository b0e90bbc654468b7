import { S3ServiceException } from '@aws-sdk/client-s3';
import { DomainError } from '../../../entities/ground/errors.ts';
import { StartRefusal } from '../../ground/opening/start-refusal.ts';

const fullCodes = ['XMinioStorageFull', 'QuotaExceeded', 'InsufficientStorage', 'InsufficientCapacity'];

export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name);
}

/** Whether the store does not know the operation: not every store lists unfinished uploads. */
export function isUnknownOperation(error: unknown): boolean {
  return readStatus(error) === 501;
}

export function isFull(error: unknown): boolean {
  return readStatus(error) === 507 || (error instanceof S3ServiceException && fullCodes.includes(error.name));
}

function readStatus(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}

/** The error that callers get. What is no fault of theirs, `onFailure` gets whole. */
export function translated(error: unknown, onFailure: (error: Error) => void): unknown {
  if (error instanceof DomainError) return error;
  if (isMissing(error)) return new DomainError('NOT_FOUND', 'The content is gone');
  onFailure(error instanceof Error ? error : new Error(String(error)));
  if (isFull(error)) return Object.assign(new Error('the file store is full'), { code: 'ENOSPC' });
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
  TimeoutError: 'its endpoint does not answer. See whether host, port and firewalls are right',
};

/** Why a start on this bucket is refused. */
export function refusal(bucket: string, error: unknown): StartRefusal {
  const message = error instanceof Error ? error.message : String(error);
  const reason = reasons[readCode(error)] ?? (readStatus(error) === 403 ? reasons.AccessDenied : undefined) ?? message;
  return new StartRefusal(`The bucket ${bucket} (BLOB_URL) cannot be used: ${reason}.`, { cause: error });
}

function readCode(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  if (!(first instanceof Error)) return '';
  return 'code' in first ? String(first.code) : first.name;
}
