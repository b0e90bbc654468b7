import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { breakOff } from '../connections/connection.ts';
import { rateHeaders } from './rate-headers.ts';

export interface Download {
  /** As the uploader named it: untrusted. */
  readonly filename: string;
  /** Only of what the service wrote itself, of images and of PDFs; default: bytes of no type. */
  readonly contentType?: string;
  /** A browser may show it. Only for types in which nothing runs. */
  readonly isInline?: boolean;
  readonly sizeBytes: number | null;
  open(): Promise<Readable>;
}

/**
 * Sends bytes that somebody uploaded, or that a tool made. Inert: a browser saves them and never shows, runs or guesses them, whatever they are; an
 * image or a PDF that `isInline` allows is shown, and nothing else is made of it. Browsers show PDFs in spite of the sandbox.
 *
 * A client that leaves ends the reading; a source that breaks off ends the connection, so that the client does not take a part for the whole.
 */
export async function sendDownload(res: ServerResponse, download: Download, requestId: string, isHead: boolean): Promise<void> {
  const content = await download.open();
  res.writeHead(200, [
    'content-type',
    download.contentType ?? 'application/octet-stream',
    'content-disposition',
    disposition(download),
    'x-content-type-options',
    'nosniff',
    'content-security-policy',
    "sandbox; default-src 'none'",
    'cross-origin-resource-policy',
    'same-origin',
    'cache-control',
    'private, no-store',
    'referrer-policy',
    'no-referrer',
    'x-request-id',
    requestId,
    ...rateHeaders(res),
    ...(download.sizeBytes === null ? [] : ['content-length', String(download.sizeBytes)]),
  ]);
  if (isHead) {
    content.destroy();
    res.end();
    return;
  }
  content.once('error', () => {
    if (!res.destroyed) breakOff(res);
  });
  await pipeline(content, res).catch(() => undefined);
  // Where the client left before, the pipeline did not begin, and destroyed nothing.
  content.destroy();
}

/** The name in both forms of RFC 6266: plain ASCII, and UTF-8 for clients that read it. */
function disposition({ filename, isInline }: Download): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encodedName = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${isInline === true ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encodedName}`;
}
