import { resolve } from 'node:path';
import type { Settings } from '../../settings.ts';
import { readBlobAddress } from '../../storage/blobs/address.ts';
import { existingPart, folderProblem, measureFreeBytes } from '../../storage/ground/opening/folders.ts';
import { type Finding, good, wrong } from './finding.ts';

const mebibyte = 1024 * 1024;
/** What a first start writes. */
const firstStartBytes = 48 * mebibyte;

/** Whether the folders of the settings could be written to, and whether there is room. Makes none of them. */
export function checkFolders(settings: Settings): readonly Finding[] {
  const blobs = readBlobAddress(settings);
  const folders = [
    { path: settings.DATA_DIR, setting: 'DATA_DIR' },
    ...(blobs.kind === 'folder' && settings.BLOB_URL !== undefined ? [{ path: blobs.path, setting: 'BLOB_URL' }] : []),
  ];
  return folders.flatMap(({ path, setting }) => {
    const problem = folderProblem(path, setting);
    if (problem !== undefined) return [wrong('folder', problem)];
    return [good('folder', `${resolve(path)} (${setting}) can be written to.`), checkRoom(path, setting, settings)];
  });
}

function checkRoom(path: string, setting: string, { DISK_FREE_MIN_BYTES }: Settings): Finding {
  const freeBytes = measureFreeBytes(existingPart(resolve(path)));
  const neededBytes = Math.max(DISK_FREE_MIN_BYTES, firstStartBytes);
  const free = `${Math.floor(freeBytes / mebibyte)} MiB`;
  if (freeBytes >= neededBytes) return good('disk', `The disk of ${setting} has ${free} left.`);
  return wrong(
    'disk',
    `The disk of ${setting} is full: it has ${free} left, and ${Math.ceil(neededBytes / mebibyte)} MiB are needed.`,
    `Make room, or name another folder in ${setting}.`,
  );
}
