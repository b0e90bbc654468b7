import type { Settings } from '../../settings.ts';
import { prepareFolder } from '../ground/opening/folders.ts';
import { readBlobAddress } from './address.ts';
import type { Blobs } from './blobs.ts';
import { createDiskBlobs } from './disk.ts';

/**
 * Opens the blobs of the settings.
 *
 * @param onFailure  gets what a store did wrong, for the log.
 * @throws StartRefusal when the folder or the bucket cannot be used.
 */
export async function openBlobs(settings: Settings, onFailure: (error: Error) => void): Promise<Blobs> {
  const address = readBlobAddress(settings);
  if (address.kind === 'folder') {
    prepareFolder(address.path, settings.BLOB_URL === undefined ? 'DATA_DIR' : 'BLOB_URL');
    return createDiskBlobs(address.path, settings.DISK_FREE_MIN_BYTES);
  }
  // Loaded by those who use it: a start without it loads no client.
  const [{ openS3Blobs }, { isFull }] = await Promise.all([import('./s3/open.ts'), import('./s3/errors.ts')]);
  const blobs = await openS3Blobs(address, settings, onFailure);
  try {
    await blobs.probe();
    return blobs;
  } catch (error) {
    // What is there can be read, and a store that is full may have room later.
    if (error instanceof Error && isFull(error.cause)) return blobs;
    await blobs.close();
    throw error;
  }
}
