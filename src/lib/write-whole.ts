import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a small file for its owner alone. It is complete or not there, also after a power failure. */
export function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.unfinished`;
  flushAfter(openSync(unfinished, 'w', 0o600), (file) => writeSync(file, text));
  renameSync(unfinished, path);
  // A new name is on the disk once its folder is; Windows opens no folders.
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
