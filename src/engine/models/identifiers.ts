import { createHash } from 'node:crypto';

/** OpenAI refuses requests with longer identifiers. */
const lengthMax = 64;

/** A caller's identifier of a user or cache, in a length that providers take: unchanged, or its hash if it is too long. */
export function providerIdentifier(accountIdentifier: string | undefined): string | undefined {
  if (accountIdentifier === undefined || accountIdentifier.length <= lengthMax) return accountIdentifier;
  return createHash('sha256').update(accountIdentifier).digest('base64url');
}
