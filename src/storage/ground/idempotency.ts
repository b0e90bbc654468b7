// Raw SQL: leases. One statement claims a key or extends the claim, by the time of the database.
import { Store } from './store.ts';

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

/** Replies kept under the keys that callers choose. All times are the database's own, so the clocks of instances need not agree. */
export class IdempotencyStore extends Store {
  /** Claims the key for one request, in one statement. A record older than `keptMs` is ignored. */
  async claim(key: IdempotencyKey, requestHash: string, leaseMs: number, keptMs: number): Promise<IdempotencyClaim> {
    // A record may be released between the two statements; then the next round claims it.
    for (let round = 0; round < 5; round += 1) {
      const values = [key.keyId, key.idempotencyKey, requestHash, leaseMs, keptMs];
      const [lease] = await this.db.query<Lease>(claimSql, values);
      if (lease !== undefined) return { kind: 'claimed', token: lease.leaseUntil.toISOString() };
      const found = await this.db.prisma.idempotencyRecord.findUnique({ where: { keyId_idempotencyKey: key } });
      if (found !== null) return toClaim(found as Row);
    }
    return { kind: 'running', requestHash };
  }

  /** Extends the lease. @returns the new token; undefined when the claim was lost. */
  async renew(key: IdempotencyKey, token: string, leaseMs: number): Promise<string | undefined> {
    const [lease] = await this.db.query<Lease>(
      `update idempotency_records set "leaseUntil" = now() + ${milliseconds('$4')}
         where "keyId" = $1 and "idempotencyKey" = $2 and "leaseUntil" = $3::timestamptz and "replyStatus" is null
         returning "leaseUntil"`,
      [key.keyId, key.idempotencyKey, token, leaseMs],
    );
    return lease?.leaseUntil.toISOString();
  }

  /** Stores the reply; does nothing when the claim was lost. */
  async complete(key: IdempotencyKey, token: string, { status, sealedBody, headers }: StoredReply): Promise<void> {
    const data = { replyStatus: status, replyBody: sealedBody, replyHeaders: headers };
    await this.db.prisma.idempotencyRecord.updateMany({ where: claimed(key, token), data });
  }

  /** Releases the key, so that the request may be sent again. */
  async release(key: IdempotencyKey, token: string): Promise<void> {
    await this.db.prisma.idempotencyRecord.deleteMany({ where: claimed(key, token) });
  }

  /** Deletes records older than `keptMs`, at most 5,000 at a time. @returns how many. */
  async sweep(keptMs: number): Promise<number> {
    const where = { createdAt: { lt: new Date(Date.now() - keptMs) } };
    return (await this.db.prisma.idempotencyRecord.deleteMany({ where, limit: 5_000 })).count;
  }
}

/** The record of a claim that holds its lease. */
function claimed(key: IdempotencyKey, token: string) {
  return { ...key, leaseUntil: new Date(token), replyStatus: null };
}

function toClaim(row: Row): IdempotencyClaim {
  const { requestHash } = row;
  if (row.replyStatus === null) return { kind: 'running', requestHash };
  const reply = { status: row.replyStatus, sealedBody: row.replyBody ?? '', headers: row.replyHeaders ?? {} };
  return { kind: 'done', requestHash, reply };
}
