import { isUtf8 } from 'node:buffer';
import { decodeText } from '../../../extract/charset.ts';

/** Their text is valid UTF-8 of other characters. */
const notToConfuse = /^(?:utf-?16(?:le|be)?|iso-2022-(?:jp|kr)|hz-gb-2312)$/i;

/**
 * Decodes a page or a text file: by byte order mark, as UTF-8 if it is that, by the charset of the reply's head, by that of the page, by its letters.
 *
 * @param contentType  the header.
 */
export function decodeDocument(bytes: Uint8Array, contentType: string): string {
  const declared = /charset\s*=\s*["']?([\w.:-]{2,40})/i.exec(contentType)?.[1];
  if (declared !== undefined && notToConfuse.test(declared)) {
    try {
      return new TextDecoder(declared).decode(bytes);
    } catch {
      // Not a charset of this system: the content decides.
    }
  }
  const top = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString('latin1');
  const inPage = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})/i.exec(top)?.[1];
  return decodeText(bytes, declared ?? inPage).replace(/^\ufeff/, '');
}

/** The bytes as UTF-8, so that later readers need not know the head of the reply. */
export function utf8Bytes(bytes: Uint8Array, text: string): Uint8Array {
  return isUtf8(bytes) && !bytes.includes(0) && !bytes.includes(0x1b) ? bytes : Buffer.from(text);
}
