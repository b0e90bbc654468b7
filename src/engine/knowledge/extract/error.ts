export const extractErrorCodes = [
  'UNSUPPORTED_TYPE',
  'NO_TEXT',
  'ENCRYPTED',
  'CORRUPT',
  'TIMEOUT',
  'MEMORY',
  'TOO_LARGE',
  'UNAVAILABLE',
] as const;
export type ExtractErrorCode = (typeof extractErrorCodes)[number];

/**
 * A document gave no text. The message is a sentence for the person who added it. Only `UNAVAILABLE` (no process could be started)
 * may succeed when the same bytes are tried again.
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
