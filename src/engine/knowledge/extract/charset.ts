import { analyse } from 'chardet';
import iconv from 'iconv-lite';

const sampleBytes = 64 * 1024;
/** Least share of control characters in bytes that are no text in single bytes. */
const controlShareMin = 0.04;
/** Most share of characters in a text that no text has: unassigned, private, or halves of pairs. */
const unlikelyShareMax = 0.01;

/**
 * Decodes bytes to text: by byte order mark, else as UTF-16 by its zero bytes, else as UTF-8, else by the declared charset, else by
 * letter statistics. Bytes that fit no charset become U+FFFD; nothing throws.
 *
 * @param declared  the charset that the document names, as in `<meta charset>`; ignored when unknown.
 */
export function decodeText(bytes: Uint8Array, declaredCharset?: string): string {
  const markedCharset = byteOrderMark(bytes) ?? wideCharset(bytes);
  if (markedCharset !== undefined) return decode(bytes, markedCharset);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return decode(bytes, detectCharset(bytes, declaredCharset));
  }
}

/** UTF-16 or UTF-32 by its zero bytes; undefined for other text. */
export function wideCharset(bytes: Uint8Array): string | undefined {
  const markedCharset = byteOrderMark(bytes);
  if (markedCharset !== undefined) return markedCharset === 'utf-8' ? undefined : markedCharset;
  const sample = bytes.subarray(0, sampleBytes);
  const zeros = [0, 0];
  for (let index = 0; index < sample.length; index += 1) if (sample[index] === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (Math.min(even, odd) > Math.max(even, odd) / 20 || even === odd) return undefined;
  const charset = odd > even ? 'utf-16le' : 'utf-16be';
  return Math.max(even, odd) > sample.length * 0.2 || isOnlyWide(sample, charset) ? charset : undefined;
}

/** Text in other scripts than Latin has few zero bytes: those of its spaces and digits. Read in single bytes it is full of control characters. */
function isOnlyWide(sample: Uint8Array, charset: string): boolean {
  let controls = 0;
  for (const byte of sample) if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) controls += 1;
  if (controls < sample.length * controlShareMin) return false;
  const text = decode(sample.subarray(0, sample.length - (sample.length % 2)), charset);
  const unlikely = text.match(/[^\P{C}\p{Cf}\s]/gu)?.length ?? 0;
  return unlikely <= text.length * unlikelyShareMax;
}

function byteOrderMark(bytes: Uint8Array): string | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'utf-32be';
  return undefined;
}

function detectCharset(bytes: Uint8Array, declaredCharset: string | undefined): string {
  if (declaredCharset !== undefined && iconv.encodingExists(declaredCharset) && !/^utf-?8$/i.test(declaredCharset))
    return declaredCharset;
  // A single invalid byte in UTF-8 text must not select another charset for all of it.
  const utf8 = new TextDecoder().decode(bytes.subarray(0, sampleBytes));
  let brokenCount = 0;
  let foreign = 0;
  for (const char of utf8) {
    if (char === '\ufffd') brokenCount += 1;
    else if (char > '\x7f') foreign += 1;
  }
  if (foreign > brokenCount * 4) return 'utf-8';
  const guess = analyse(bytes.subarray(0, sampleBytes)).find(
    ({ name }) => iconv.encodingExists(name) && !/^utf|^iso-2022/i.test(name),
  );
  if (guess === undefined || /^iso-8859-1$|^ascii$/i.test(guess.name)) return 'windows-1252';
  return guess.name;
}

function decode(bytes: Uint8Array, charset: string): string {
  return iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), charset);
}
