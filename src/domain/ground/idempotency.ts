import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { DomainError } from '../../entities/ground/errors.ts';
import type { IdempotencyKey } from '../../storage/ground/idempotency.ts';
import type { Deps } from '../deps.ts';

/** A stored reply: its status, its JSON text (undefined: no body), its own headers. */
export interface ReplayableReply {
  readonly status: number;
  readonly text: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

export interface IdempotentRequest {
  readonly keyId: string;
  /** The caller's key in plain text. It encrypts the stored reply, which may show a secret that the database must not reveal. */
  readonly secret: string;
  /** As the caller chose it, 1 to 255 printable characters. */
  readonly idempotencyKey: string;
  /** Equal for equal requests: operation, path and body. */
  readonly request: string;
}

/** Replies are replayed for 24 hours. */
export const idempotencyRetentionMs = 24 * 60 * 60 * 1_000;
/** A first request whose process is silent for this long counts as dead, and its key is free. */
const leaseMs = 30_000;

/**
 * Runs a request once for each idempotency key of a caller.
 *
 * Only successful replies are stored. A failure frees the key: nothing was made, and the same request may be sent again.
 *
 * @returns the reply, and whether it is a replay.
 * @throws DomainError IDEMPOTENCY_IN_PROGRESS while the first request runs, IDEMPOTENCY_MISMATCH when the key came with another
 * request, INVALID_VALUE for a malformed key; and the errors of `run`.
 *
 * Cost: two statements, and one every ten seconds while the request runs.
 */
export async function runOnce(
  deps: Deps,
  request: IdempotentRequest,
  run: () => Promise<ReplayableReply>,
): Promise<{ reply: ReplayableReply; isReplay: boolean }> {
  if (!/^[\x20-\x7e]{1,255}$/.test(request.idempotencyKey)) {
    throw new DomainError('INVALID_VALUE', 'Idempotency-Key must be 1 to 255 printable characters', { param: 'Idempotency-Key' });
  }
  const key: IdempotencyKey = { keyId: request.keyId, idempotencyKey: request.idempotencyKey };
  const seal = sealingKey(request);
  const hash = createHmac('sha256', seal).update(request.request).digest('hex');
  const claim = await deps.storage.idempotency.claim(key, hash, leaseMs, idempotencyRetentionMs);
  if (claim.kind === 'claimed') return { reply: await runClaimed(deps, key, claim.token, seal, run), isReplay: false };
  if (claim.requestHash !== hash) {
    throw new DomainError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key came with another request before', {
      param: 'Idempotency-Key',
    });
  }
  if (claim.kind === 'running') {
    throw new DomainError('IDEMPOTENCY_IN_PROGRESS', 'The first request with this Idempotency-Key is still running', {
      param: 'Idempotency-Key',
      retryAfterSeconds: 1,
    });
  }
  const { status, headers, sealedBody } = claim.reply;
  return { reply: { status, headers, text: sealedBody === '' ? undefined : unseal(seal, sealedBody) }, isReplay: true };
}

async function runClaimed(
  deps: Deps,
  key: IdempotencyKey,
  firstToken: string,
  seal: Buffer,
  run: () => Promise<ReplayableReply>,
): Promise<ReplayableReply> {
  const { idempotency } = deps.storage;
  let token: string | undefined = firstToken;
  let renewing: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    renewing = renewing.then(async () => {
      if (token !== undefined) token = await idempotency.renew(key, token, leaseMs);
    });
    renewing.catch((error: unknown) => deps.logger.warn({ err: error }, 'an idempotency lease was not renewed'));
  }, leaseMs / 3);
  timer.unref();
  const settle = async (work: (token: string) => Promise<void>) => {
    clearInterval(timer);
    await renewing.catch(() => undefined);
    if (token !== undefined) await work(token);
  };
  try {
    const reply = await run();
    const sealedBody = reply.text === undefined ? '' : sealText(seal, reply.text);
    await settle((own) => idempotency.complete(key, own, { status: reply.status, headers: reply.headers, sealedBody }));
    return reply;
  } catch (error) {
    await settle((own) => idempotency.release(key, own));
    throw error;
  }
}

function sealingKey(request: IdempotentRequest): Buffer {
  return Buffer.from(hkdfSync('sha256', request.secret, `${request.keyId}\n${request.idempotencyKey}`, 'parley idempotency', 32));
}

/** AES-256-GCM: 12 bytes of nonce, 16 of tag, the text; base64. */
function sealText(key: Buffer, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64');
}

function unseal(key: Buffer, sealedText: string): string {
  const bytes = Buffer.from(sealedText, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}

/** Registers the deletion of entries older than a day. */
export function registerIdempotencySweep(deps: Deps): void {
  deps.jobs.lead('idempotency.sweep', 10 * 60 * 1_000, async (signal) => {
    while (!signal.aborted && (await deps.storage.idempotency.sweep(idempotencyRetentionMs)) > 0);
  });
}
