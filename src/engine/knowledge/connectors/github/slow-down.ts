import { parseWait, type ServiceReply } from '../service-client/client.ts';

/** Where a limit of speed has no time, its documentation asks to wait a minute. */
const secondaryWaitMs = 60_000;

/** How long to wait when a 403 is a limit of speed; undefined when it is a matter of rights. */
export function slowDownMs({ headers, body }: ServiceReply): number | undefined {
  const retryAfterMs = parseWait(headers['retry-after']);
  if (retryAfterMs !== undefined) return retryAfterMs;
  if (headers['x-ratelimit-remaining'] === '0') {
    const resetMs = Number(headers['x-ratelimit-reset']) * 1_000 - Date.now();
    return Number.isFinite(resetMs) ? Math.max(1_000, resetMs) : secondaryWaitMs;
  }
  return /rate limit/i.test(body.toString('utf8')) ? secondaryWaitMs : undefined;
}
