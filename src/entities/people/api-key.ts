import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AccessLevel, Scope } from './caller.ts';

/** A key as lists show it. The secret is never stored. */
export interface ApiKey {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly userEmail: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly level: AccessLevel;
  /** First characters of the secret, so that its owner recognizes it. */
  readonly prefix: string;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Who made the key, and with which key; null for the first key of an installation and for keys of older versions. */
  readonly createdByUserId: string | null;
  readonly createdByKeyId: string | null;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretPrefix = 'pk_';
/** 27 characters of 62: 160 bits. */
const randomLength = 27;
/** 62^6 exceeds 2^32, so a CRC-32 fits. */
const checksumLength = 6;
const madeKeyPattern = new RegExp(`^${secretPrefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Characters of a secret that are shown: four random ones, so that 136 bits stay unknown. */
const shownLength = secretPrefix.length + 4;

/** Limits for every key, also for one that an operator chose (PARLEY_ADMIN_KEY). */
export const keyLengthMin = 32;
export const keyLengthMax = 200;

/** Makes a secret: `pk_`, 160 random bits in base 62, and a checksum by which secret scanners and authentication recognize typing errors. */
export function makeKeySecret(): string {
  const body = secretPrefix + randomBase62(randomLength);
  return body + checksum(body);
}

/**
 * False for text that cannot be a key: a wrong length, or the form of a generated key with a wrong checksum. Such text is refused
 * without a look-up. A key that an operator chose may have any form, but one in the form of a generated key needs its checksum.
 */
export function isWellFormedKey(secret: string): boolean {
  if (secret.length < keyLengthMin || secret.length > keyLengthMax) return false;
  if (!madeKeyPattern.test(secret)) return true;
  return checksum(secret.slice(0, -checksumLength)) === secret.slice(-checksumLength);
}

/** What is stored in place of the secret of a key, a session or a link: SHA-256 in hex. They have at least 128 random bits, so no slow hash is needed. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** The part of a secret that lists show. */
export function keyPrefix(secret: string): string {
  return secret.slice(0, shownLength);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumLength; index += 1) {
    digits = (alphabet[rest % alphabet.length] ?? '0') + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** Bytes that would make some characters more likely are dropped. */
function randomBase62(length: number): string {
  const unbiasedBelow = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < unbiasedBelow && text.length < length) text += alphabet[byte % alphabet.length] ?? '';
    }
  }
  return text;
}
