import { displayValue } from '../../lib/text/display-value.ts';
import type { Settings } from '../../settings.ts';
import { readBlobAddress } from '../../storage/blobs/address.ts';
import { StartRefusal } from '../../storage/ground/opening/start-refusal.ts';
import { type Finding, findCode, good, wrong } from './finding.ts';

/** Whether an S3 store of BLOB_URL lets Parley write, read and delete. A folder is checked as a folder. */
export async function checkFiles(settings: Settings): Promise<readonly Finding[]> {
  const address = readBlobAddress(settings);
  if (address.kind === 'folder') return [];
  const { openS3Blobs } = await import('../../storage/blobs/s3/open.ts');
  try {
    const blobs = await openS3Blobs(address, settings);
    try {
      await blobs.probe();
    } finally {
      await blobs.close();
    }
    return [good('files', `The bucket ${address.bucket} can be written to and read from.`)];
  } catch (error) {
    if (error instanceof StartRefusal) return [wrong('files', error.message)];
    const reason = findCode(error) ?? displayValue('BLOB_URL', error instanceof Error ? error.message : String(error));
    return [
      wrong(
        'files',
        `The bucket ${address.bucket} cannot be used (${reason}).`,
        'Correct BLOB_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
      ),
    ];
  }
}
