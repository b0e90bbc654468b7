export const extractErrorCodes = [
  'UNSUPPORTED_TYPE',
  'NO_TEXT',
  'ENCRYPTED',
  'CORRUPT',
  'TIMEOUT',
  'MEMORY',
  'TOO_LARGE',
  'CRASHED',
  'UNAVAILABLE',
] as const;
export type ExtractErrorCode = (typeof extractErrorCodes)[number];

/**
 * A document gave no text. The message is a sentence for the person who added it. Only `UNAVAILABLE` (no process could be
 * started, or the machine was too busy for it) may succeed when the same bytes are tried again.
 */
export class ExtractError extends Error {
  override readonly name = 'ExtractError';
  readonly code: ExtractErrorCode;
  readonly isRetryable: boolean;

  constructor(code: ExtractErrorCode, message: string) {
    super(message);
    this.code = code;
    this.isRetryable = code === 'UNAVAILABLE';
  }
}

/** @param what  the subject of the sentence: `The PDF`. */
export function encrypted(what: string): ExtractError {
  return new ExtractError('ENCRYPTED', `${what} is protected by a password; save it without one and add it again.`);
}

/** @param what  the subject of the sentence: `The PDF`. */
export function damaged(what: string): ExtractError {
  return new ExtractError('CORRUPT', `${what} is damaged or cut short; open it, save it again, and add the new file.`);
}
