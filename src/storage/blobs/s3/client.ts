import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher } from 'undici';
import { userAgent } from '../../../lib/product.ts';
import type { Settings } from '../../../settings.ts';
import type { S3Address } from '../address.ts';
import { isPassing, S3Error } from './errors.ts';
import { textOf } from './xml.ts';

export type S3Settings = Pick<Settings, 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN' | 'AWS_REGION'>;

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** Undefined is the bucket itself. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export type S3Reply = Dispatcher.ResponseData;

export interface S3Client {
  /** One request with its retries; the reply's body is not read. @throws S3Error for every status of 300 and more; errors of the connection. */
  send(request: S3Request): Promise<S3Reply>;
  /** The same, with the body of the reply as text; a connection that breaks within it is retried too. */
  text(request: S3Request): Promise<string>;
  close(): Promise<void>;
}

const triesMax = 4;
const firstPauseMs = 100;
const errorBodyMaxBytes = 64 * 1024;
const timeouts = { connectMs: 10_000, headersMs: 60_000, bodyMs: 30_000 };
const connectionsMax = 64;

/** Sends signed requests to a bucket. Bodies are hashed and the hash is signed, so a store notices what was changed on the way. */
export function createS3Client(address: S3Address, settings: S3Settings): S3Client {
  const region = address.region ?? settings.AWS_REGION ?? 'us-east-1';
  const base = baseOf(address, region);
  const agent = new Agent({
    connect: { timeout: timeouts.connectMs },
    headersTimeout: timeouts.headersMs,
    bodyTimeout: timeouts.bodyMs,
    connections: connectionsMax,
  });

  async function sendOnce({ method, key, query = {}, headers = {}, body }: S3Request): Promise<S3Reply> {
    const url = new URL(key === undefined ? base : `${base.replace(/\/$/, '')}/${address.prefix}${key}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId: settings.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: settings.AWS_SECRET_ACCESS_KEY ?? '',
      ...(settings.AWS_SESSION_TOKEN === undefined ? {} : { sessionToken: settings.AWS_SESSION_TOKEN }),
      service: 's3',
      region,
    }).sign();
    const reply = await agent.request({
      origin: url.origin,
      path: `${signed.url.pathname}${signed.url.search}`,
      method,
      headers: { ...Object.fromEntries(signed.headers), 'user-agent': userAgent },
      body: body ?? null,
    });
    if (reply.statusCode < 300) return reply;
    throw new S3Error(reply.statusCode, await errorCodeOf(reply), `${method} of ${key ?? 'the bucket'}`);
  }

  return {
    send: (request) => withRetries(() => sendOnce(request)),
    text: (request) => withRetries(async () => (await sendOnce(request)).body.text()),
    close: () => agent.close(),
  };
}

/** @throws the error of the last try. */
export async function withRetries<T>(work: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs, tries = 1; ; tries += 1, pauseMs *= 3) {
    try {
      return await work();
    } catch (error) {
      if (tries === triesMax || !isPassing(error)) throw error;
      await wait(pauseMs);
    }
  }
}

function baseOf({ bucket, endpoint, isPathStyle }: S3Address, region: string): string {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  return isPathStyle ? `${url.origin}/${bucket}` : `${url.protocol}//${bucket}.${url.host}/`;
}

async function errorCodeOf(reply: S3Reply): Promise<string> {
  let text = '';
  for await (const chunk of reply.body) {
    text += String(chunk);
    if (text.length > errorBodyMaxBytes) break;
  }
  return textOf(text, 'Code') ?? '';
}
