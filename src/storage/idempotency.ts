// Raw SQL: leases. One statement claims a key or releases it, by the time of the database.
import type { Database } from './database/database.ts';

export type IdempotencyClaim =
  /** The caller is the first, or took over from a caller whose lease ran out. `token` names this claim. */
  | { readonly kind: 'claimed'; readonly token: string }
  | { readonly kind: 'running'; readonly requestHash: string }
  | { readonly kind: 'done'; readonly requestHash: string; readonly reply: StoredReply };

export interface StoredReply {
  readonly status: number;
  /** Sealed by domain/idempotency.ts. */
  readonly sealedBody: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies kept under the keys that callers choose. All times are the database's own, so the clocks of instances need not agree. */
export interface IdempotencyStore {
  /** Claims the key for one request, in one statement. A record older than `keptMs` is ignored. */
  claim(of: IdempotencyKey, requestHash: string, leaseMs: number, keptMs: number): Promise<IdempotencyClaim>;
  /** Extends the lease. @returns the new token; undefined when the claim was lost. */
  renew(of: IdempotencyKey, token: string, leaseMs: number): Promise<string | undefined>;
  /** Stores the reply; does nothing when the claim was lost. */
  complete(of: IdempotencyKey, token: string, reply: StoredReply): Promise<void>;
  /** Releases the key, so that the request may be sent again. */
  release(of: IdempotencyKey, token: string): Promise<void>;
  /** Deletes records older than `keptMs`, at most 5,000 at a time. @returns how many. */
  sweep(keptMs: number): Promise<number>;
}

export interface IdempotencyKey {
  readonly keyId: string;
  readonly idempotencyKey: string;
}

interface Row {
  readonly requestHash: string;
  readonly replyStatus: number | null;
  readonly replyBody: string | null;
  readonly replyHeaders: Readonly<Record<string, string>> | null;
}

const now = `(now() at time zone 'utc')`;
const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;

const claimSql = `
  insert into idempotency_records as mine ("keyId", "idempotencyKey", "createdAt", "requestHash", "leaseUntil")
  values ($1, $2, ${now}, $3, ${now} + ${milliseconds('$4')})
  on conflict ("keyId", "idempotencyKey") do update
    set "createdAt" = excluded."createdAt", "requestHash" = excluded."requestHash", "leaseUntil" = excluded."leaseUntil",
        "replyStatus" = null, "replyBody" = null, "replyHeaders" = null
    where mine."createdAt" < ${now} - ${milliseconds('$5')}
       or (mine."replyStatus" is null and mine."leaseUntil" < ${now})
  returning "leaseUntil"::text as token`;

export function createIdempotencyStore(db: Database): IdempotencyStore {
  const store: IdempotencyStore = {
    async claim(of, requestHash, leaseMs, keptMs) {
      // A record may be released between the two statements; then the next round claims it.
      for (let round = 0; round < 5; round += 1) {
        const values = [of.keyId, of.idempotencyKey, requestHash, leaseMs, keptMs];
        const [claimed] = await db.query<{ token: string }>(claimSql, values);
        const token = claimed?.token;
        if (token !== undefined) return { kind: 'claimed', token };
        const found = await db.prisma.idempotencyRecord.findUnique({ where: { keyId_idempotencyKey: of } });
        if (found !== null) return claimOf(found as Row);
      }
      return { kind: 'running', requestHash };
    },
    async renew(of, token, leaseMs) {
      const [renewed] = await db.query<{ token: string }>(
        `update idempotency_records set "leaseUntil" = ${now} + ${milliseconds('$4')}
         where "keyId" = $1 and "idempotencyKey" = $2 and "leaseUntil" = $3::timestamp and "replyStatus" is null
         returning "leaseUntil"::text as token`,
        [of.keyId, of.idempotencyKey, token, leaseMs],
      );
      return renewed?.token;
    },
    async complete(of, token, reply) {
      await db.execute(
        `update idempotency_records set "replyStatus" = $4, "replyBody" = $5, "replyHeaders" = $6
         where "keyId" = $1 and "idempotencyKey" = $2 and "leaseUntil" = $3::timestamp and "replyStatus" is null`,
        [of.keyId, of.idempotencyKey, token, reply.status, reply.sealedBody, JSON.stringify(reply.headers)],
      );
    },
    async release(of, token) {
      await db.execute(
        `delete from idempotency_records
         where "keyId" = $1 and "idempotencyKey" = $2 and "leaseUntil" = $3::timestamp and "replyStatus" is null`,
        [of.keyId, of.idempotencyKey, token],
      );
    },
    async sweep(keptMs) {
      return db.execute(
        `delete from idempotency_records where ctid in (
           select ctid from idempotency_records where "createdAt" < ${now} - ${milliseconds('$1')} limit 5000)`,
        [keptMs],
      );
    },
  };
  return store;
}

function claimOf(row: Row): IdempotencyClaim {
  const { requestHash } = row;
  if (row.replyStatus === null) return { kind: 'running', requestHash };
  const reply = { status: row.replyStatus, sealedBody: row.replyBody ?? '', headers: row.replyHeaders ?? {} };
  return { kind: 'done', requestHash, reply };
}
