import type { ShareOwner } from '../../../../../lib/flow/fair-share.ts';
import type { Egress, EgressHead } from '../../../../egress/egress.ts';
import { EgressError } from '../../../../egress/error.ts';
import type { PageReader } from '../reading/page-reader.ts';
import type { Throttle } from './throttle.ts';

/** Asks sites in the name of one organization, politely. */
export interface Visitor {
  readonly owner: ShareOwner;
  readonly egress: Egress;
  readonly throttle: Throttle;
  /** Looks at what they answer. */
  readonly pages: PageReader;
  readonly userAgent: string;
  /** Time for one reply, redirects of robots.txt and sitemaps included. */
  readonly requestTimeoutMs: number;
}

export interface Visit {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytesMax: number;
  readonly redirectsMax?: number;
  /** What robots.txt asks for between two requests. */
  readonly delayMs: number;
}

/**
 * Sends one GET when the host has a turn.
 *
 * @param take  reads the body, or does not.
 * @throws EgressError, what `take` throws, or the signal's reason.
 */
export async function visit<T>(
  visitor: Visitor,
  { url, headers, bytesMax, redirectsMax = 0, delayMs }: Visit,
  signal: AbortSignal,
  take: (head: EgressHead, content: AsyncIterable<Uint8Array>) => Promise<T>,
): Promise<T> {
  const { owner, egress, throttle, userAgent } = visitor;
  const leave = await throttle.take(new URL(url).host, delayMs, signal);
  try {
    const { requestTimeoutMs: timeoutMs } = visitor;
    const all = { accept: 'text/html, application/xhtml+xml, */*;q=0.5', ...headers, 'user-agent': userAgent };
    return await egress.receive({ owner, url, headers: all, bytesMax, timeoutMs, redirectsMax }, signal, take);
  } finally {
    leave();
  }
}

/** Whether the same request may succeed later. */
export function mayPass(error: unknown): boolean {
  return error instanceof EgressError && ['TIMEOUT', 'UNREACHABLE', 'BAD_REPLY', 'BAD_ENCODING'].includes(error.code);
}
