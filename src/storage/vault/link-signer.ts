import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MasterKeys } from './master-keys.ts';

export type LinkPurpose = 'upload' | 'content' | 'file' | 'sign-in' | 'oauth-cookie';

/** Signs the parts of links that Parley gives out and verifies later. */
export class LinkSigner {
  readonly #signing: MasterKeys['signing'];

  constructor({ signing }: MasterKeys) {
    this.#signing = signing;
  }

  /** `<base64url of the text>.<base64url of its HMAC-SHA-256>`, safe in a URL. A signature is valid for one purpose only. */
  sign(purpose: LinkPurpose, text: string): string {
    const [newest] = this.#signing;
    const part = Buffer.from(text, 'utf8').toString('base64url');
    return `${part}.${codeFor(newest, purpose, part).toString('base64url')}`;
  }

  /** The text, if one of our keys signed it for that purpose. */
  verify(purpose: LinkPurpose, signed: string): string | undefined {
    const split = signed.indexOf('.');
    const part = signed.slice(0, Math.max(0, split));
    const claimed = Buffer.from(signed.slice(split + 1), 'base64url');
    const isOurs = this.#signing.some((key) => {
      const code = codeFor(key, purpose, part);
      return code.length === claimed.length && timingSafeEqual(code, claimed);
    });
    return isOurs ? Buffer.from(part, 'base64url').toString('utf8') : undefined;
  }
}

function codeFor(key: { readonly bytes: Buffer }, purpose: LinkPurpose, part: string): Buffer {
  return createHmac('sha256', key.bytes).update(`${purpose}\n${part}`).digest();
}
