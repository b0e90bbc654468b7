import { createHash } from 'node:crypto';

/** OpenAI refuses requests with longer identifiers. */
const lengthMax = 64;

/** A caller's identifier of a user or cache, in a length that providers take: unchanged, or its hash if it is too long. */
export function providerIdentifier(given: string | undefined): string | undefined {
  if (given === undefined || given.length <= lengthMax) return given;
  return createHash('sha256').update(given).digest('base64url');
}
