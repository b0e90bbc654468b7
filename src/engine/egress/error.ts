export type EgressErrorCode =
  | 'FORBIDDEN_ADDRESS'
  | 'BAD_URL'
  | 'TOO_MANY_REDIRECTS'
  | 'TOO_LARGE'
  | 'TIMEOUT'
  | 'BAD_ENCODING'
  | 'BAD_REPLY'
  | 'UNREACHABLE';

/** A call was refused or failed. The message may be shown: it names the host at most, never headers or bodies. */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly code: EgressErrorCode;

  constructor(code: EgressErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
