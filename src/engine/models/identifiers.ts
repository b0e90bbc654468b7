import { createHash } from 'node:crypto';

/** OpenAI refuses longer ones, and with them the request. */
const lengthMax = 64;

/**
 * What a caller names a user or a cache by, as providers take it: as it is, or, where it is too long, a text that stands for it and is the
 * same every time.
 */
export function providerIdentifier(given: string | undefined): string | undefined {
  if (given === undefined || given.length <= lengthMax) return given;
  return createHash('sha256').update(given).digest('base64url');
}
