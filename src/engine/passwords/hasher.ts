import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DomainError } from '../../entities/ground/errors.ts';

/** Makes and checks what is stored in place of passwords: argon2id, in the PHC string format. */
export interface PasswordHasher {
  /** How many hashes this process has made. */
  readonly count: number;
  /** @throws DomainError OVERLOADED while too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one that was hashed. Without a stored hash the same work is done, and the answer is no: how long it takes tells nobody
   * whether there is a password.
   *
   * @throws DomainError OVERLOADED while too many wait; Error for a stored text that is no such hash.
   */
  verify(password: string, passwordHash: string | undefined): Promise<boolean>;
}

/** The least that OWASP recommends for argon2id: 19 MiB and two passes. */
const memoryKiB = 19_456;
const passes = 2;
const parallelism = 1;
const saltBytes = 16;
const tagBytes = 32;
/** Each holds a thread of four that also look up names and read files. */
const activeMax = 2;
const waitingMax = 100;

const derive = promisify(argon2);
const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{22,86})\$([\w+/]{43,86})$/;

export function createPasswordHasher(): PasswordHasher {
  let count = 0;
  let active = 0;
  const waiting: (() => void)[] = [];

  async function inTurn(work: () => Promise<Buffer>): Promise<Buffer> {
    if (active >= activeMax) {
      if (waiting.length >= waitingMax) {
        throw new DomainError('OVERLOADED', 'Too many people are signing in; try again in a moment', { retryAfterSeconds: 2 });
      }
      await new Promise<void>((begin) => waiting.push(begin));
    } else active += 1;
    try {
      count += 1;
      return await work();
    } finally {
      // The place goes to the next, so nobody comes between.
      const next = waiting.shift();
      if (next === undefined) active -= 1;
      else next();
    }
  }

  function tag(password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> {
    const { memory, passes: rounds, parallelism: lanes } = cost;
    // The same character may be typed as one code point or as two.
    const message = password.normalize('NFKC');
    return inTurn(() => derive('argon2id', { message, nonce, memory, passes: rounds, parallelism: lanes, tagLength }));
  }

  return {
    get count() {
      return count;
    },
    async hash(password) {
      const salt = randomBytes(saltBytes);
      const passwordTag = await tag(password, salt, ownCost, tagBytes);
      return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${parallelism}$${toText(salt)}$${toText(passwordTag)}`;
    },
    async verify(password, passwordHash) {
      const { cost, salt, wanted: expectedTag } = passwordHash === undefined ? nobody : read(passwordHash);
      const actualTag = await tag(password, salt, cost, expectedTag.length);
      return passwordHash !== undefined && timingSafeEqual(actualTag, expectedTag);
    },
  };
}

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}
interface StoredHash {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly wanted: Buffer;
}

const ownCost: Cost = { memory: memoryKiB, passes, parallelism };
const nobody: StoredHash = { cost: ownCost, salt: Buffer.alloc(saltBytes), wanted: Buffer.alloc(tagBytes) };

function read(hashText: string): StoredHash {
  const [, memory, rounds, lanes, salt, tagText] = phc.exec(hashText) ?? [];
  if (salt === undefined || tagText === undefined) throw new Error('a stored password is no argon2id hash');
  const cost = { memory: Number(memory), passes: Number(rounds), parallelism: Number(lanes) };
  return { cost, salt: Buffer.from(salt, 'base64'), wanted: Buffer.from(tagText, 'base64') };
}

/** Base64 without padding, as the format has it. */
function toText(bytes: Buffer): string {
  return bytes.toString('base64').slice(0, Math.ceil((bytes.length * 4) / 3));
}
