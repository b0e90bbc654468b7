import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolderSync } from '../../lib/folders.ts';
import { StartRefusal } from './start-refusal.ts';

/** Numbers of file systems that store nothing: proc, sysfs, cgroup (two), debugfs, tracefs, securityfs, bpf, configfs, devpts. */
const virtualTypes: readonly number[] = [
  ...[0x9fa0, 0x6265_6572, 0x27_e0eb, 0x6367_7270, 0x6462_6720],
  ...[0x7472_6163, 0x7363_6673, 0xcafe_4a11, 0x6265_6570, 0x1cd1],
];

/** The words for an error of the file system, for the operator. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this process may not write there. Give its user the right to write, or name another folder',
  EPERM: 'this process may not write there. Give its user the right to write, or name another folder',
  EROFS: 'the file system is read-only. Mount it for writing, or name another folder',
  ENOTDIR: 'a file stands where a folder is needed. Move the file away, or name another folder',
  EEXIST: 'a file stands where a folder is needed. Move the file away, or name another folder',
  ENOENT: 'it cannot be made there. Name another folder',
  ELOOP: 'its path is a circle of links. Name another folder',
  ENAMETOOLONG: 'its path is too long. Name another folder',
  ENOSPC: 'the disk is full. Make room, or name another folder',
  EDQUOT: 'the quota is used up. Make room, or name another folder',
};

/**
 * Makes the folder that a setting names, and checks that files can be written to it.
 *
 * @param setting  its name, for the message.
 * @throws StartRefusal
 */
export function prepareFolder(path: string, setting: string): void {
  const refuse = (reason: string): never => {
    throw new StartRefusal(`The folder ${path} (${setting}) cannot be used: ${reason}.`);
  };
  try {
    if (isVirtual(resolve(path))) refuse('it is on a virtual file system, which keeps no files. Name a folder on a disk');
    makeFolderSync(resolve(path));
    const probe = join(path, `.parley-${randomUUID()}`);
    closeSync(openSync(probe, 'wx', 0o600));
    rmSync(probe);
  } catch (error) {
    if (error instanceof StartRefusal) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = reasons[code];
    if (reason === undefined) throw error;
    refuse(reason);
  }
}

/** Free bytes on the disk of a folder. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function isVirtual(path: string): boolean {
  let there = path;
  while (statSync(there, { throwIfNoEntry: false }) === undefined && dirname(there) !== there) there = dirname(there);
  return process.platform === 'linux' && virtualTypes.includes(statfsSync(there).type);
}
