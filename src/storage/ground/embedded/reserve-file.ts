import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';

const pieceBytes = 1024 * 1024;

/** A file that only takes room, so that there is some to give on a full disk. `sizeBytes`: 0 keeps no ballast. */
export class ReserveFile {
  readonly #path: string;
  readonly #sizeBytes: number;
  readonly #unfinished: string;
  #isHeld: boolean;
  #isSpent = false;

  constructor(path: string, sizeBytes: number) {
    this.#path = path;
    this.#sizeBytes = sizeBytes;
    this.#unfinished = `${path}.unfinished`;
    this.#isHeld = isWhole(path, sizeBytes);
  }

  /** True from `release` until `restore` had room. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Gives its room back. @returns false when there is none: it was given before. */
  release(): boolean {
    if (!this.#isHeld) return false;
    this.#isHeld = false;
    this.#isSpent = true;
    rmSync(this.#path, { force: true });
    return true;
  }

  /** Takes the room again. @returns false when the disk has too little. */
  restore(): boolean {
    if (this.#isHeld || this.#sizeBytes === 0) return true;
    try {
      fill(this.#unfinished, this.#sizeBytes);
      renameSync(this.#unfinished, this.#path);
      this.#isHeld = true;
      this.#isSpent = false;
    } catch {
      rmSync(this.#unfinished, { force: true });
    }
    return this.#isHeld;
  }
}

function isWhole(path: string, sizeBytes: number): boolean {
  return sizeBytes > 0 && statSync(path, { throwIfNoEntry: false })?.size === sizeBytes;
}

/** Random bytes, because a file system may keep zeros without room. */
function fill(path: string, sizeBytes: number): void {
  const piece = randomFillSync(Buffer.allocUnsafe(pieceBytes));
  const file = openSync(path, 'w', 0o600);
  try {
    for (let remainingBytes = sizeBytes; remainingBytes > 0; )
      remainingBytes -= writeSync(file, piece, 0, Math.min(remainingBytes, pieceBytes));
  } finally {
    closeSync(file);
  }
}
