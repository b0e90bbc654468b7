import type { RedisTransport } from '../../ground/redis/transport.ts';
import type { RateBucketStore, RateReport } from './rate-buckets.ts';

/** A bucket is full again after a minute, or after two when instances admitted too many. */
const keptMs = 180_000;

/**
 * The same arithmetic as that of the database, by the time of Redis. A missing bucket is full. Its whole state is one hash, so a cluster spreads the
 * buckets. Arguments: the limit, the admitted requests, the time that it is kept. Returns what is left, as text: Redis cuts numbers to whole ones.
 */
const reportScript = `
local limit, used = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens, at = tonumber(bucket[1]), tonumber(bucket[2])
if tokens == nil or at == nil then tokens, at = limit, now end
tokens = math.min(tokens + math.max(now - at, 0) / 60000 * limit, limit) - used
tokens = math.max(tokens, -limit)
redis.call('HSET', KEYS[1], 'tokens', tostring(tokens), 'at', math.max(at, now))
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return tostring(tokens)`;

/** Buckets in Redis while it answers, else in the database. What the other one knows is at most a minute old: a bucket is full after a minute. */
export function createRedisRateBuckets(
  redis: Pick<RedisTransport, 'session' | 'keys'>,
  databaseBuckets: RateBucketStore,
): RateBucketStore {
  return {
    async report(reports) {
      const { session } = redis;
      if (session === undefined) return databaseBuckets.report(reports);
      const report = async ({ id, perMinute, used: usedCount }: RateReport) => {
        const args = [String(perMinute), String(usedCount), String(keptMs)];
        return [id, Number(await session.eval(reportScript, redis.keys.rateBucket(id), args))] as const;
      };
      return new Map(await Promise.all(reports.map(report)));
    },
    sweep: () => databaseBuckets.sweep(),
  };
}
