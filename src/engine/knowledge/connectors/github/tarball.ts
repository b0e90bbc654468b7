import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { createTarDecoder } from 'modern-tar';
import type { ConnectorServices, SyncedSource } from '../connector.ts';
import { SourceError } from '../error.ts';
import { inPath, type RepoHostApi, type TreeFile } from './api.ts';

const packedBytesMax = 1024 * 1024 * 1024;
/** An archive that unpacks to more is no archive of text. */
const unpackedBytesMax = 8 * packedBytesMax;

/**
 * Reads many files of a repository with one request: the first time, a call for each file would use up the calls of an hour.
 *
 * @param wanted  the files by path.
 */
export async function* filesOfTarball(
  services: ConnectorServices,
  api: RepoHostApi,
  source: SyncedSource,
  fullName: string,
  commit: string,
  wantedFiles: ReadonlyMap<string, TreeFile>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly file: TreeFile; readonly content: Uint8Array }, void, void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-repository-'));
  try {
    const path = join(folder, 'archive.tar.gz');
    const request = api.request(`/repos/${inPath(fullName)}/tarball/${commit}`);
    await services.vendors.download({ ...request, owner: source, path, bytesMax: packedBytesMax }, signal);
    const unpackedStream = bounded(unpackedBytesMax);
    const reading = pipeline(createReadStream(path), createGunzip(), unpackedStream, { signal });
    reading.catch(() => undefined);
    const entries = Readable.toWeb(unpackedStream).pipeThrough(createTarDecoder() as never) as ReadableStream<Entry>;
    for await (const { header, body } of entries) {
      signal.throwIfAborted();
      // The archive has one folder at its top.
      const file = header.type === 'file' ? wantedFiles.get(header.name.slice(header.name.indexOf('/') + 1)) : undefined;
      if (file === undefined) await body.cancel();
      else yield { file, content: await whole(body, file) };
    }
    await reading;
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof SourceError ? error : new SourceError('BAD_REPLY', 'The archive of the repository cannot be read.');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Entry {
  readonly header: { readonly name: string; readonly type?: string };
  readonly body: ReadableStream<Uint8Array>;
}

async function whole(body: ReadableStream<Uint8Array>, { sizeBytes, path }: TreeFile): Promise<Uint8Array> {
  const blocks: Uint8Array[] = [];
  let bytes = 0;
  for await (const block of body) {
    bytes += block.length;
    if (bytes > sizeBytes) throw new SourceError('BAD_REPLY', `The archive holds another ${path} than the repository.`);
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

function bounded(bytesMax: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(block: Buffer, _encoding, callback) {
      bytes += block.length;
      if (bytes > bytesMax)
        callback(new SourceError('TOO_LARGE', 'The archive of the repository unpacks to more than can be read.'));
      else callback(null, block);
    },
  });
}
