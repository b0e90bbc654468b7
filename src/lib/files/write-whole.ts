import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a small file that only its owner may read. After a crash or power failure it is complete or absent. */
export function writeWhole(path: string, text: string): void {
  const temporaryPath = `${path}.unfinished`;
  flushAfter(openSync(temporaryPath, 'w', 0o600), (file) => writeSync(file, text));
  renameSync(temporaryPath, path);
  // A new file name is durable once its folder is flushed; Windows cannot open folders.
  if (process.platform !== 'win32') flushAfter(openSync(dirname(path), 'r'), () => undefined);
}

function flushAfter(file: number, work: (file: number) => void): void {
  try {
    work(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
