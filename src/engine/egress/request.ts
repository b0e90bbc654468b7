import type { ShareOwner } from '../../lib/fair-share.ts';

/** A request to a URL that somebody outside can influence. */
export interface EgressRequest {
  /** For whom the call is made: calls and look-ups are shared by tenant and organization. */
  readonly owner: ShareOwner;
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Most bytes of the reply's body after decoding; more is TOO_LARGE. */
  readonly bytesMax: number;
  /** For the whole call with its redirects. */
  readonly timeoutMs: number;
  /** Redirects followed; 0 hands the redirect back. Default 5. */
  readonly redirectsMax?: number;
  /**
   * A redirect that leaves it is handed back, not followed: for calls whose body, query or headers are for that place alone. `host`: the
   * same host, with the plain connection left for the safe one. `origin`: the same scheme, host and port.
   */
  readonly redirectsWithin?: 'host' | 'origin';
  /** Called on every hop when its connection stands, right before the first byte of the request is written. What it throws ends the call unsent. */
  readonly beforeSend?: (() => void) | undefined;
}
