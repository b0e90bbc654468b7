import type { ShareOwner } from '../../lib/flow/fair-share.ts';

/** A request to a URL that somebody outside can influence. */
export interface EgressRequest {
  /** Calls and look-ups are shared between tenants and organizations. */
  readonly owner: ShareOwner;
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Most bytes of the reply's body after decoding; more is TOO_LARGE. */
  readonly bytesMax: number;
  /** Limit of the whole call, redirects included. */
  readonly timeoutMs: number;
  /** Most redirects that are followed; 0 returns the redirect itself. Default 5. */
  readonly redirectsMax?: number;
  /**
   * A redirect to another place is returned, not followed: for calls whose body, query or headers are for one place only. `host`:
   * the same host, also with https instead of http. `origin`: the same scheme, host and port.
   */
  readonly redirectsWithin?: 'host' | 'origin';
  /** Content is given on as it arrives, not in blocks of 64 KiB: for streams of events. */
  readonly isPrompt?: true;
  /** A stream that stays open and mostly waits: it takes no place among the concurrent calls, so its caller bounds their number. */
  readonly isHeld?: true;
  /** Called on every hop when the connection is open, before the first byte is written. An error that it throws ends the call before it is sent. */
  readonly beforeSend?: (() => void) | undefined;
}
