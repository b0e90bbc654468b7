import { readSharedChatPage } from '../domain/conversations/shares/page.ts';
import type { Deps } from '../domain/deps.ts';
import { RateBucket } from '../engine/sharing/rate-bucket.ts';
import { DomainError } from '../entities/ground/errors.ts';
import { hashSecret } from '../entities/people/api-key.ts';
import { toNetwork } from '../http/address.ts';
import { toOrigin } from '../http/context.ts';
import { BoundedMap } from '../lib/bounded-map.ts';
import type { SharedSteps } from '../pages/shared.ts';

const visitorsMax = 20_000;
/** Who reads on within this time, or looks again, opens nothing anew. */
const openingLastsMs = 3_600_000;

/**
 * What people without a sign-in read of chats that are shared with anyone. Their requests are limited by network.
 */
export function sharedSteps(deps: Deps): SharedSteps {
  const { SHARED_REQUESTS_PER_MINUTE_ADDRESS: perMinute } = deps.settings;
  const buckets = new BoundedMap<string, RateBucket>(visitorsMax);
  const openings = new BoundedMap<string, number>(visitorsMax);
  return {
    async read(visit, req) {
      const origin = toOrigin(deps, req);
      const network = toNetwork(origin.address);
      const nowMs = performance.now();
      const bucket = buckets.get(network) ?? new RateBucket(perMinute, nowMs, false);
      buckets.set(network, bucket);
      if (!bucket.has(1, nowMs)) {
        const retryAfterSeconds = Math.ceil(60 / perMinute);
        throw new DomainError('RATE_LIMIT_EXCEEDED', 'Too many requests came from this address; wait a moment', {
          retryAfterSeconds,
        });
      }
      bucket.take(1);
      const visitor = hashSecret(`${network} ${visit.secret}`);
      const at = deps.now().getTime();
      const isOpening = at - (openings.get(visitor) ?? 0) > openingLastsMs;
      const page = await readSharedChatPage(deps, origin, { ...visit, isOpening });
      if (isOpening) openings.set(visitor, at);
      return page;
    },
  };
}
