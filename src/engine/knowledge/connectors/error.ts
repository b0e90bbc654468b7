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

/** Codes of documents that are left out by their type or size: SKIPPED. Every other code is a failure, which another run may not have: FAILED. */
const leftOut: ReadonlySet<string> = new Set(['TOO_LARGE', 'UNSUPPORTED']);

/** The state of a document that is not read, by the code of the reason. */
export function unreadStatus(code: string): 'SKIPPED' | 'FAILED' {
  return leftOut.has(code) ? 'SKIPPED' : 'FAILED';
}

/**
 * The message is for the person who added the source: what is wrong, what to do, and what the other service says about it. It holds no secret and no
 * whole body.
 */
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

  /** The same with the words of the other service behind ours. */
  saying(words: string): SourceError {
    return new SourceError(this.code, `${this.message} It says: "${words}"`, this.retryAfterMs, this.#isFinal);
  }

  get isRetryable(): boolean {
    return !this.#isFinal && retryable.has(this.code);
  }
}
