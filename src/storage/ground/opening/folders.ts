import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolderSync } from '../../../lib/files/folders.ts';
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
  const problem = problemIn(path, setting, () => {
    makeFolderSync(resolve(path));
    probe(path);
  });
  if (problem !== undefined) throw new StartRefusal(problem);
}

/** Why `prepareFolder` would refuse a folder, in one sentence. Makes nothing: of a folder that is not there, looks at the nearest one above. */
export function folderProblem(path: string, setting: string): string | undefined {
  return problemIn(path, setting, () => {
    // Of its length, and of files on the way.
    statSync(resolve(path), { throwIfNoEntry: false });
    const there = existingPart(resolve(path));
    if (!statSync(there).isDirectory()) throw Object.assign(new Error(there), { code: 'ENOTDIR' });
    probe(there);
  });
}

function problemIn(path: string, setting: string, work: () => void): string | undefined {
  const words = (reason: string) => `The folder ${path} (${setting}) cannot be used: ${reason}.`;
  try {
    if (isVirtual(resolve(path))) return words('it is on a virtual file system, which keeps no files. Name a folder on a disk');
    work();
    return undefined;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const reason = reasons[code];
    if (reason === undefined) throw error;
    return words(reason);
  }
}

function probe(folder: string): void {
  const path = join(folder, `.parley-${randomUUID()}`);
  closeSync(openSync(path, 'wx', 0o600));
  rmSync(path);
}

/** Free bytes on the disk of a folder. */
export function measureFreeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function isVirtual(path: string): boolean {
  return process.platform === 'linux' && virtualTypes.includes(statfsSync(existingPart(path)).type);
}

/** The path itself, or the nearest one above it that is there. */
export function existingPart(path: string): string {
  let there = path;
  while (statSync(there, { throwIfNoEntry: false }) === undefined && dirname(there) !== there) there = dirname(there);
  return there;
}
