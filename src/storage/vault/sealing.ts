import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/** A key of 256 bits. Its id stands in what it seals, so that the key can be found again. */
export interface SealingKey {
  readonly id: string;
  readonly bytes: Buffer;
}

const algorithm = 'aes-256-gcm';
const nonceLength = 12;
const tagLength = 16;

/** Derives a key from a text or bytes of any length, one for each purpose. The id identifies the key and reveals nothing about it. */
export function deriveKey(material: string | Uint8Array, purpose: string): SealingKey {
  const bytes = Buffer.from(hkdfSync('sha256', material, 'parley', purpose, 32));
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 12), bytes };
}

export function makeKeyBytes(): Buffer {
  return randomBytes(32);
}

/**
 * Encrypts with AES-256-GCM under a fresh nonce.
 *
 * @param place  what the secret belongs to (table, row, organization). It is authenticated, so a sealed text that was moved elsewhere does not open.
 * @returns `<key id>.<base64url of nonce, text, tag>`
 */
export function seal(key: SealingKey, plain: Uint8Array, place: readonly string[]): string {
  const nonce = randomBytes(nonceLength);
  const cipher = createCipheriv(algorithm, key.bytes, nonce, { authTagLength: tagLength });
  cipher.setAAD(placeBytes(place));
  const sealedBytes = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  return `${key.id}.${sealedBytes.toString('base64url')}`;
}

/**
 * @param keys  keys that may have sealed the text; the id selects one.
 * @throws SealError when the key is missing, the text was changed, or it was sealed for another place.
 */
export function unseal(keys: readonly SealingKey[], sealedText: string, place: readonly string[]): Buffer {
  const [id = '', text = ''] = sealedText.split('.', 2);
  const key = keys.find((candidate) => candidate.id === id);
  if (key === undefined) throw new SealError(`the key ${id} that sealed this is not among those given`);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < nonceLength + tagLength) throw new SealError('the sealed text is too short');
  const decipher = createDecipheriv(algorithm, key.bytes, bytes.subarray(0, nonceLength), { authTagLength: tagLength });
  decipher.setAAD(placeBytes(place));
  decipher.setAuthTag(bytes.subarray(bytes.length - tagLength));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceLength, bytes.length - tagLength)), decipher.final()]);
  } catch {
    throw new SealError('the sealed text was changed or belongs elsewhere');
  }
}

export function sealedKeyId(sealedText: string): string {
  return sealedText.split('.', 1)[0] ?? '';
}

export class SealError extends Error {
  override readonly name = 'SealError';
}

/** JSON keeps the parts apart: ["a","bc"] and ["ab","c"] are two places. */
function placeBytes(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place), 'utf8');
}
