import { S3Client } from '@aws-sdk/client-s3';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { userAgent } from '../../../lib/product.ts';
import type { Settings } from '../../../settings.ts';
import type { S3Address } from '../address.ts';

export type S3Settings = Pick<Settings, 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN' | 'AWS_REGION'>;

/** A bucket, and what the keys of Parley begin with in it. */
export interface Bucket {
  readonly client: S3Client;
  readonly name: string;
  readonly prefix: string;
}

const requestTriesMax = 4;
const timeouts = { connectMs: 10_000, socketIdleMs: 30_000 };

/** The client of the AWS SDK for the bucket of BLOB_URL. It signs, repeats requests that failed for a moment, and reads the store's errors. */
export function openBucket(address: S3Address, settings: S3Settings): Bucket {
  const { AWS_SESSION_TOKEN } = settings;
  const credentials = { accessKeyId: settings.AWS_ACCESS_KEY_ID ?? '', secretAccessKey: settings.AWS_SECRET_ACCESS_KEY ?? '' };
  const client = new S3Client({
    region: address.region ?? settings.AWS_REGION ?? 'us-east-1',
    forcePathStyle: address.isPathStyle,
    ...(address.endpoint === undefined ? {} : { endpoint: address.endpoint }),
    credentials: AWS_SESSION_TOKEN === undefined ? credentials : { ...credentials, sessionToken: AWS_SESSION_TOKEN },
    maxAttempts: requestTriesMax,
    // Stores other than AWS do not know the checksums that newer SDKs add. The signature covers the hash of each body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({ connectionTimeout: timeouts.connectMs, socketTimeout: timeouts.socketIdleMs }),
  });
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> };
      headers['user-agent'] = `${userAgent} ${headers['user-agent'] ?? ''}`.trim();
      return next(args);
    },
    // Behind the SDK, which writes the header in this step.
    { step: 'build', priority: 'low', name: 'parleyUserAgent' },
  );
  return { client, name: address.bucket, prefix: address.prefix };
}

/** What a command says of one blob. */
export function toObjectPlace({ name, prefix }: Bucket, key: string): { readonly Bucket: string; readonly Key: string } {
  return { Bucket: name, Key: `${prefix}${key}` };
}
