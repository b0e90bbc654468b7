// Raw SQL: leases. One statement claims a key or extends the claim, by the time of the database.
import type { Database } from './database.ts';

export type IdempotencyClaim =
  /** The caller is the first, or took over from a caller whose lease ran out. `token` names this claim. */
  | { readonly kind: 'claimed'; readonly token: string }
  | { readonly kind: 'running'; readonly requestHash: string }
  | { readonly kind: 'done'; readonly requestHash: string; readonly reply: StoredReply };

export interface StoredReply {
  readonly status: number;
  /** Sealed by domain/ground/idempotency.ts. */
  readonly sealedBody: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies kept under the keys that callers choose. All times are the database's own, so the clocks of instances need not agree. */
export interface IdempotencyStore {
  /** Claims the key for one request, in one statement. A record older than `keptMs` is ignored. */
  claim(key: IdempotencyKey, requestHash: string, leaseMs: number, keptMs: number): Promise<IdempotencyClaim>;
  /** Extends the lease. @returns the new token; undefined when the claim was lost. */
  renew(key: IdempotencyKey, token: string, leaseMs: number): Promise<string | undefined>;
  /** Stores the reply; does nothing when the claim was lost. */
  complete(key: IdempotencyKey, token: string, reply: StoredReply): Promise<void>;
  /** Releases the key, so that the request may be sent again. */
  release(key: IdempotencyKey, token: string): Promise<void>;
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

/** The end of a lease names it. */
interface Lease {
  readonly leaseUntil: Date;
}

const milliseconds = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;

const claimSql = `
  insert into idempotency_records as mine ("keyId", "idempotencyKey", "createdAt", "requestHash", "leaseUntil")
  values ($1, $2, now(), $3, now() + ${milliseconds('$4')})
  on conflict ("keyId", "idempotencyKey") do update
    set "createdAt" = excluded."createdAt", "requestHash" = excluded."requestHash", "leaseUntil" = excluded."leaseUntil",
        "replyStatus" = null, "replyBody" = null, "replyHeaders" = null
    where mine."createdAt" < now() - ${milliseconds('$5')}
       or (mine."replyStatus" is null and mine."leaseUntil" < now())
  returning "leaseUntil"`;

export function createIdempotencyStore(db: Database): IdempotencyStore {
  const store: IdempotencyStore = {
    async claim(key, requestHash, leaseMs, keptMs) {
      // A record may be released between the two statements; then the next round claims it.
      for (let round = 0; round < 5; round += 1) {
        const values = [key.keyId, key.idempotencyKey, requestHash, leaseMs, keptMs];
        const [lease] = await db.query<Lease>(claimSql, values);
        if (lease !== undefined) return { kind: 'claimed', token: lease.leaseUntil.toISOString() };
        const found = await db.prisma.idempotencyRecord.findUnique({ where: { keyId_idempotencyKey: key } });
        if (found !== null) return claimOf(found as Row);
      }
      return { kind: 'running', requestHash };
    },
    async renew(key, token, leaseMs) {
      const [lease] = await db.query<Lease>(
        `update idempotency_records set "leaseUntil" = now() + ${milliseconds('$4')}
         where "keyId" = $1 and "idempotencyKey" = $2 and "leaseUntil" = $3::timestamptz and "replyStatus" is null
         returning "leaseUntil"`,
        [key.keyId, key.idempotencyKey, token, leaseMs],
      );
      return lease?.leaseUntil.toISOString();
    },
    async complete(key, token, { status, sealedBody, headers }) {
      const data = { replyStatus: status, replyBody: sealedBody, replyHeaders: headers };
      await db.prisma.idempotencyRecord.updateMany({ where: claimed(key, token), data });
    },
    async release(key, token) {
      await db.prisma.idempotencyRecord.deleteMany({ where: claimed(key, token) });
    },
    async sweep(keptMs) {
      const where = { createdAt: { lt: new Date(Date.now() - keptMs) } };
      return (await db.prisma.idempotencyRecord.deleteMany({ where, limit: 5_000 })).count;
    },
  };
  return store;
}

/** The record of a claim that holds its lease. */
function claimed(key: IdempotencyKey, token: string) {
  return { ...key, leaseUntil: new Date(token), replyStatus: null };
}

function claimOf(row: Row): IdempotencyClaim {
  const { requestHash } = row;
  if (row.replyStatus === null) return { kind: 'running', requestHash };
  const reply = { status: row.replyStatus, sealedBody: row.replyBody ?? '', headers: row.replyHeaders ?? {} };
  return { kind: 'done', requestHash, reply };
}
