import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { RateBucket } from '../../engine/sharing/rate-bucket.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { findAddress, toNetwork } from '../address.ts';

export interface FailedKeyOptions {
  /** Requests a minute without a key that is known, by address; 0 is no limit. */
  readonly perMinute: number;
  /** See `addressOf`. */
  readonly proxyHops: number;
}

const addressesMax = 20_000;
const networkOfSocket = Symbol('network');

interface KnownSocket extends Socket {
  [networkOfSocket]?: string;
}

/**
 * Requests that were refused for their key, by address. Guessing keys is slowed down and costs no database query: for an address with too
 * many refusals, only keys that this process has accepted before are looked up.
 */
export class FailedKeys {
  readonly #options: FailedKeyOptions;
  readonly #byNetwork = new BoundedMap<string, RateBucket>(addressesMax);

  constructor(options: FailedKeyOptions) {
    this.#options = options;
  }

  /** Whether the address has too many refusals. */
  isExhausted(req: IncomingMessage): boolean {
    if (this.#byNetwork.size === 0) return false;
    return this.#byNetwork.get(this.#networkOf(req))?.has(1, performance.now()) === false;
  }

  refusal(): DomainError {
    const message = 'Too many requests without a valid API key came from this address; wait a moment';
    return new DomainError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: Math.ceil(60 / this.#options.perMinute) });
  }

  /** Counts a request without a key, or with one that is unknown. */
  note(req: IncomingMessage): void {
    const { perMinute } = this.#options;
    if (perMinute === 0) return;
    const network = this.#networkOf(req);
    const nowMs = performance.now();
    const bucket = this.#byNetwork.get(network) ?? new RateBucket(perMinute, nowMs, false);
    bucket.left(nowMs);
    bucket.take(1);
    // Set again, so that it moves to the end of the map: the address with the latest refusal is dropped last.
    this.#byNetwork.set(network, bucket);
  }

  #networkOf(req: IncomingMessage): string {
    const { proxyHops } = this.#options;
    if (proxyHops > 0) return toNetwork(findAddress(req, proxyHops));
    const socket: KnownSocket = req.socket;
    socket[networkOfSocket] ??= toNetwork(findAddress(req, 0));
    return socket[networkOfSocket];
  }
}
