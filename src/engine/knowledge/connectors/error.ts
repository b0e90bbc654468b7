/**
 * Why a source or an item cannot be read.
 *
 * - AUTH: the other service refuses the connection; its owner has to connect again.
 * - FORBIDDEN: the account may not read this.
 * - NOT_FOUND: it is not there.
 * - RATE_LIMITED, UNREACHABLE, BAD_REPLY: may be better later.
 * - TOO_LARGE, UNSUPPORTED: this document is not read.
 * - NOINDEX, ROBOTS, NOTHING_LEFT: a web source has no documents: its pages must not be indexed, must not be read, or are all left out.
 * - CONFIGURATION: a setting of the operator or of the source is missing or wrong.
 */
export type SourceErrorCode =
  | 'AUTH'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'RATE_LIMITED'
  | 'UNREACHABLE'
  | 'BAD_REPLY'
  | 'TOO_LARGE'
  | 'UNSUPPORTED'
  | 'NOINDEX'
  | 'ROBOTS'
  | 'NOTHING_LEFT'
  | 'CONFIGURATION';

const retryable: ReadonlySet<SourceErrorCode> = new Set(['RATE_LIMITED', 'UNREACHABLE', 'BAD_REPLY']);

/** The message is for the person who added the source: what is wrong, and what to do. It holds no secret and no body. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly code: SourceErrorCode;
  /** The other service asked to wait this long. */
  readonly retryAfterMs: number | undefined;

  readonly #isFinal: boolean;

  /** @param isFinal  was tried often enough: this run ends with it, whatever its code. */
  constructor(code: SourceErrorCode, message: string, retryAfterMs?: number, isFinal = false) {
    super(message);
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.#isFinal = isFinal;
  }

  get isRetryable(): boolean {
    return !this.#isFinal && retryable.has(this.code);
  }
}
