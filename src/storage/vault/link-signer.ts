import { createHmac, timingSafeEqual } from 'node:crypto';
import type { MasterKeys } from './master-keys.ts';

export type LinkPurpose = 'upload' | 'content' | 'file' | 'sign-in';

/** Signs the parts of links that Parley gives out and verifies later. */
export interface LinkSigner {
  /** `<base64url of the text>.<base64url of its HMAC-SHA-256>`, safe in a URL. A signature is valid for one purpose only. */
  sign(purpose: LinkPurpose, text: string): string;
  /** The text, if one of our keys signed it for that purpose. */
  verify(purpose: LinkPurpose, signed: string): string | undefined;
}

export function createLinkSigner({ signing }: MasterKeys): LinkSigner {
  const [newest] = signing;
  const codeOf = (key: { readonly bytes: Buffer }, purpose: LinkPurpose, part: string) =>
    createHmac('sha256', key.bytes).update(`${purpose}\n${part}`).digest();
  return {
    sign(purpose, text) {
      const part = Buffer.from(text, 'utf8').toString('base64url');
      return `${part}.${codeOf(newest, purpose, part).toString('base64url')}`;
    },
    verify(purpose, signed) {
      const split = signed.indexOf('.');
      const part = signed.slice(0, Math.max(0, split));
      const given = Buffer.from(signed.slice(split + 1), 'base64url');
      const isOurs = signing.some((key) => {
        const code = codeOf(key, purpose, part);
        return code.length === given.length && timingSafeEqual(code, given);
      });
      return isOurs ? Buffer.from(part, 'base64url').toString('utf8') : undefined;
    },
  };
}
