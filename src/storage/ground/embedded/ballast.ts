import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

/** A file that only takes room, so that there is some to give on a full disk. */
export interface Ballast {
  /** True from `release` until `restore` had room. */
  readonly isSpent: boolean;
  /** Gives its room back. @returns false when there is none: it was given before. */
  release(): boolean;
  /** Takes the room again. @returns false when the disk has too little. */
  restore(): boolean;
}

const pieceBytes = 1024 * 1024;

/** @param sizeBytes  0 keeps no ballast. */
export function createBallast(path: string, sizeBytes: number): Ballast {
  const unfinished = `${path}.unfinished`;
  let isHeld = isWhole(path, sizeBytes);
  let isSpent = false;
  return {
    get isSpent() {
      return isSpent;
    },
    release() {
      if (!isHeld) return false;
      isHeld = false;
      isSpent = true;
      rmSync(path, { force: true });
      return true;
    },
    restore() {
      if (isHeld || sizeBytes === 0) return true;
      try {
        fill(unfinished, sizeBytes);
        renameSync(unfinished, path);
        isHeld = true;
        isSpent = false;
      } catch {
        rmSync(unfinished, { force: true });
      }
      return isHeld;
    },
  };
}

function isWhole(path: string, sizeBytes: number): boolean {
  return sizeBytes > 0 && statSync(path, { throwIfNoEntry: false })?.size === sizeBytes;
}

/** Random bytes, because a file system may keep zeros without room. */
function fill(path: string, sizeBytes: number): void {
  const piece = randomFillSync(Buffer.allocUnsafe(pieceBytes));
  const file = openSync(path, 'w', 0o600);
  try {
    for (let left = sizeBytes; left > 0; ) left -= writeSync(file, piece, 0, Math.min(left, pieceBytes));
  } finally {
    closeSync(file);
  }
}
