import type { Logger } from 'pino';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { RateBucketStore } from '../../storage/operations/usage/rate-buckets.ts';
import { RateBucket } from './rate-bucket.ts';

export interface RateLimitOptions {
  /** Requests a minute of one key, and of all keys of one organization; 0 is no limit. */
  readonly keyPerMinute: number;
  readonly organizationPerMinute: number;
  /** Where instances share their counts; undefined for the only process on its database. */
  readonly store: RateBucketStore | undefined;
  /** Processes on the database. When the counts cannot be shared, each has its part of a limit. */
  readonly instances: () => number;
  readonly logger: Logger;
}

/** Who makes a request; a `Caller` is one. */
export interface RateSubject {
  readonly keyId: string;
  readonly orgId: string;
}

/** A limit, and how many of its requests are left. */
export interface RateRest {
  readonly perMinute: number;
  readonly left: number;
}

/** The limit that a reply tells: the key's or the organization's, whichever has less left. */
export interface RateVerdict {
  /** Whose limit it is. */
  readonly owner: 'key' | 'organization';
  readonly isAllowed: boolean;
  /** Requests a minute. */
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the whole limit is available again. */
  readonly resetSeconds: number;
  /** Seconds until the next request is allowed; 0 for an allowed one. */
  readonly retryAfterSeconds: number;
}

const bucketsMax = 50_000;
const touchEveryMs = 1_000;
/** Reports within this time go in one statement. */
const gatherMs = 5;
/** After a failed report the database gets no report for this long. */
const pauseMs = 1_000;

/**
 * Token buckets of requests by key and by organization. A request needs no statement: a process knows the common rest of a moment
 * ago, and reports what it allowed after each second's worth of a limit. So n instances together allow at most the limit, plus for
 * each instance a second's worth and the requests during one statement. A slower subject is never written. The unreported count of
 * a dead instance is lost, which the bucket refills in a second. Without the database each instance enforces its share of
 * the limit by itself.
 */
export class RateLimits {
  readonly #options: RateLimitOptions;
  readonly #keys = new BoundedMap<string, RateBucket>(bucketsMax);
  readonly #organizations = new BoundedMap<string, RateBucket>(bucketsMax);
  #due = new Map<string, RateBucket>();
  #timer: NodeJS.Timeout | undefined;
  #pausedUntilMs = 0;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: RateLimitOptions) {
    this.#options = options;
  }

  /**
   * Counts a request, or several that are allowed together. More than a limit has count as all of it, so that they may be made at all.
   *
   * @param nowMs  of `performance.now()`.
   * @returns undefined when there is no limit.
   */
  take({ keyId, orgId }: RateSubject, nowMs: number, count = 1): RateVerdict | undefined {
    const { keyPerMinute, organizationPerMinute } = this.#options;
    const ofKey = keyPerMinute === 0 ? undefined : this.#bucket(this.#keys, keyId, keyPerMinute, nowMs);
    const ofOrganization =
      organizationPerMinute === 0 ? undefined : this.#bucket(this.#organizations, orgId, organizationPerMinute, nowMs);
    const keyLeft = ofKey?.left(nowMs) ?? Number.POSITIVE_INFINITY;
    const organizationLeft = ofOrganization?.left(nowMs) ?? Number.POSITIVE_INFINITY;
    const isAllowed = ofKey?.has(count, nowMs) !== false && ofOrganization?.has(count, nowMs) !== false;
    if (isAllowed) {
      if (ofKey !== undefined) this.#count(`key ${keyId}`, ofKey, count);
      if (ofOrganization !== undefined) this.#count(`org ${orgId}`, ofOrganization, count);
    }
    const isOfKey = keyLeft <= organizationLeft;
    const bucket = isOfKey ? ofKey : ofOrganization;
    return bucket === undefined ? undefined : toVerdict(bucket, isOfKey ? 'key' : 'organization', isAllowed, nowMs, count);
  }

  /** What is left of both limits, without counting a request. A limit of 0 is none. */
  rest({ keyId, orgId }: RateSubject, nowMs: number): { readonly key?: RateRest; readonly organization?: RateRest } {
    const { keyPerMinute, organizationPerMinute } = this.#options;
    const toRateRest = (buckets: BoundedMap<string, RateBucket>, id: string, perMinute: number): RateRest => ({
      perMinute,
      left: Math.max(0, Math.floor(this.#bucket(buckets, id, perMinute, nowMs).left(nowMs))),
    });
    return {
      ...(keyPerMinute === 0 ? {} : { key: toRateRest(this.#keys, keyId, keyPerMinute) }),
      ...(organizationPerMinute === 0 ? {} : { organization: toRateRest(this.#organizations, orgId, organizationPerMinute) }),
    };
  }

  /** Reports the rest and makes no further statement. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#sending;
  }

  #bucket(buckets: BoundedMap<string, RateBucket>, id: string, perMinute: number, nowMs: number): RateBucket {
    let bucket = buckets.get(id);
    if (bucket === undefined) {
      bucket = new RateBucket(perMinute, nowMs, this.#options.store !== undefined);
      buckets.set(id, bucket);
    } else if (nowMs - bucket.touchedAtMs > touchEveryMs) {
      // A used bucket is kept: a new one would be full.
      bucket.touchedAtMs = nowMs;
      buckets.set(id, bucket);
    }
    return bucket;
  }

  #count(id: string, bucket: RateBucket, count: number): void {
    bucket.take(count);
    if (this.#options.store === undefined || bucket.isReporting || bucket.unreported < bucket.reportsAt) return;
    this.#due.set(id, bucket);
    this.#timer ??= setTimeout(() => this.#send(), this.#waitMs()).unref();
  }

  #waitMs(): number {
    return Math.max(gatherMs, this.#pausedUntilMs - performance.now());
  }

  #send(): void {
    this.#timer = undefined;
    const { store, instances, logger } = this.#options;
    const due = [...this.#due];
    this.#due = new Map();
    if (store === undefined || due.length === 0) return;
    const reports = due.map(([id, bucket]) => ({ id, perMinute: bucket.perMinute, used: bucket.beginReport() }));
    this.#sending = store.report(reports).then(
      (remainders) => {
        const nowMs = performance.now();
        for (const [id, bucket] of due) bucket.endReport(remainders.get(id) ?? 0, nowMs);
      },
      (error: unknown) => {
        this.#pausedUntilMs = performance.now() + pauseMs;
        for (const [, bucket] of due) bucket.failReport(instances());
        logger.warn(
          { err: error },
          'request counts could not be shared between instances; each instance enforces its share of the limits',
        );
      },
    );
  }
}

function toVerdict(
  bucket: RateBucket,
  owner: RateVerdict['owner'],
  isAllowed: boolean,
  nowMs: number,
  count: number,
): RateVerdict {
  const { perMinute } = bucket;
  const remainder = bucket.left(nowMs);
  const secondsFor = (requests: number) => Math.max(0, Math.ceil((requests * 60) / perMinute));
  return {
    owner,
    isAllowed,
    limit: perMinute,
    remaining: Math.max(0, Math.floor(remainder)),
    resetSeconds: secondsFor(perMinute - remainder),
    retryAfterSeconds: isAllowed ? 0 : Math.max(1, secondsFor(Math.min(count, perMinute) - remainder)),
  };
}
