import { randomFillSync } from 'node:crypto';

/** Every kind of id Parley hands out. The prefix tells a reader what an id names; callers treat the whole as opaque. */
export const idPrefixes = {
  agent: 'ai',
  chat: 'chat',
  message: 'msg',
  chatFile: 'file',
  dataSource: 'ds',
  knowledgeItem: 'ki',
  group: 'grp',
  apiKey: 'key',
  organization: 'org',
  tenant: 'ten',
  user: 'user',
  membership: 'mem',
  run: 'run',
  response: 'resp',
  oauthToken: 'oat',
  usageEntry: 'use',
  toolCall: 'call',
  serverToolCall: 'stc',
  serverToolOutput: 'sto',
  functionCall: 'fc',
  reasoning: 'rs',
  completion: 'chatcmpl',
} as const;
export type IdKind = keyof typeof idPrefixes;

/** Crockford base 32 in lower case, as the TypeID specification has it: no i, l, o or u. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const suffixLength = 26;

const pool = Buffer.allocUnsafe(10 * 256);
let poolOffset = pool.length;

/** Ten random bytes from a refilled pool: one system call for 256 ids. */
function randomTen(): Buffer {
  if (poolOffset >= pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  poolOffset += 10;
  return pool.subarray(poolOffset - 10, poolOffset);
}

/**
 * Makes a TypeID: the prefix, `_`, and a UUIDv7 in 26 base-32 characters, so ids of one kind sort by time.
 *
 * @param nowMs  milliseconds since the epoch; the time part of the UUID.
 */
export function makeId(kind: IdKind, nowMs: number): string {
  const random = randomTen();
  // UUIDv7: 48 bits of time, version 7, 12 random bits, variant 10, 62 random bits.
  const high = (BigInt(nowMs) << 16n) | 0x7000n | BigInt(((random[0] ?? 0) << 4) | ((random[1] ?? 0) >> 4));
  const low = (random.readBigUInt64BE(2) & 0x3fffffffffffffffn) | 0x8000000000000000n;
  return `${idPrefixes[kind]}_${encodeBase32((high << 64n) | low)}`;
}

/** True for a well-formed id of that kind. A malformed id is simply not found: callers never learn more. */
export function isId(kind: IdKind, value: string): boolean {
  const prefix = `${idPrefixes[kind]}_`;
  return value.startsWith(prefix) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value.slice(prefix.length));
}

/** The kind of a well-formed id, or undefined. */
export function kindOfId(value: string): IdKind | undefined {
  const prefix = value.slice(0, Math.max(0, value.length - suffixLength - 1));
  const kind = (Object.keys(idPrefixes) as IdKind[]).find((candidate) => idPrefixes[candidate] === prefix);
  return kind !== undefined && isId(kind, value) ? kind : undefined;
}

/** When an id of ours was made, to the millisecond: its first ten characters are the 48 bits of time. */
export function timeOfId(id: string): Date {
  let ms = 0;
  for (const character of id.slice(-suffixLength, 10 - suffixLength)) ms = ms * 32 + alphabet.indexOf(character);
  return new Date(ms);
}

function encodeBase32(value: bigint): string {
  let rest = value;
  let text = '';
  for (let index = 0; index < suffixLength; index += 1) {
    text = (alphabet[Number(rest & 31n)] ?? '0') + text;
    rest >>= 5n;
  }
  return text;
}
