import { createHash, type Hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/ground/errors.ts';
import { safeMimeType } from './form.ts';
import { requireUncompressed } from './json.ts';
import { Spool } from './spool.ts';
import { fileTooLarge, type Upload, type UploadLimits } from './upload.ts';
import { watchBody } from './watch.ts';

/**
 * Reads a body that is the file itself, as PUT sends it. Like a form's file it is complete, counted and set aside before it is used.
 * It has no name; its type is that of the header content-type.
 *
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE (a form, a compressed body), REQUEST_TOO_LARGE, REQUEST_TIMEOUT, CLIENT_CLOSED_REQUEST.
 */
export async function readRawUpload(req: IncomingMessage, limits: UploadLimits): Promise<Upload> {
  requireBareFile(req);
  if (Number(req.headers['content-length'] ?? 0) > limits.fileMaxBytes) throw fileTooLarge(limits);
  const mimeType = safeMimeType(req.headers['content-type'] ?? '');
  const hash = createHash('sha256').update(`${mimeType}\n`);
  const spool = new Spool();
  try {
    await setAside(req, spool, limits, hash);
  } catch (error) {
    await spool.dispose();
    throw error;
  }
  return {
    file: { filename: 'file', mimeType, sizeBytes: spool.sizeBytes, stream: () => spool.read() },
    fields: new Map(),
    hash: hash.digest('hex'),
    dispose: () => spool.dispose(),
  };
}

/** Chunk by chunk. The body is paused while a chunk is written, so a fast client cannot fill the memory. */
function setAside(req: IncomingMessage, spool: Spool, limits: UploadLimits, hash: Hash): Promise<void> {
  let pendingWrite = Promise.resolve();
  let stop: () => void = () => undefined;
  const whole = new Promise<void>((resolve, reject) => {
    const stopWatching = watchBody(req, limits.idleMs, reject);
    const onData = (chunk: Buffer) => {
      if (spool.sizeBytes + chunk.length > limits.fileMaxBytes) return reject(fileTooLarge(limits));
      hash.update(chunk);
      req.pause();
      pendingWrite = spool.write(chunk).then(() => void req.resume());
      pendingWrite.catch(reject);
    };
    stop = () => {
      stopWatching();
      req.off('data', onData);
    };
    req.on('data', onData);
    req.on('end', resolve);
  });
  // Nothing may be written any more once the bytes are thrown away.
  return whole.finally(async () => {
    stop();
    await pendingWrite.catch(() => undefined);
  });
}

function requireBareFile(req: IncomingMessage): void {
  requireUncompressed(req);
  if (/^multipart\//i.test(req.headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'The body must be the file itself, not a form that holds it');
  }
}
