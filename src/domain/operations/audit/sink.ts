import { type AuditSink, AuditSinkError, auditSinkBody } from '../../../engine/audit/sink.ts';
import { holdLease, isLost } from '../../../engine/leases.ts';
import type { AuditEntry } from '../../../entities/operations/audit.ts';
import type { Lease } from '../../../storage/ground/leases.ts';
import type { Deps } from '../../deps.ts';

/** Another process goes on so long after one was killed. */
const leaseMs = 15_000;
const batchMax = { entries: 500, bytes: 512 * 1024 };
const firstDelayMs = 2_000;
const delayMsMax = 300_000;

/** Sends every entry of the audit log to the receiver of AUDIT_SINK_URL, in order and at least once. One process sends at a time. */
export function registerAuditSink(deps: Deps): void {
  const { auditSink, jobs } = deps;
  if (auditSink === undefined) return;
  const owner = deps.newId('auditBatch');
  jobs.every('audit.sink', deps.settings.DUE_LOOK_EVERY_MS, (signal) => sendWaiting(deps, auditSink, owner, signal));
}

/** Sends what waits, batch by batch, until nothing does or an attempt fails. */
async function sendWaiting(deps: Deps, sink: AuditSink, owner: string, signal: AbortSignal): Promise<void> {
  const {
    leases,
    operations: { auditSink: store },
  } = deps.storage;
  if (!(await store.isDue())) return;
  const lease = await store.take(owner, leaseMs);
  if (lease === undefined) return;
  const hold = holdLease(leases, 'auditSink', lease, leaseMs);
  const ending = AbortSignal.any([signal, hold.lost]);
  try {
    while (!ending.aborted && (await sendBatch(deps, sink, lease, ending)));
  } catch (error) {
    if (!signal.aborted && !isLost(error, hold)) throw error;
  } finally {
    hold.stop();
    await leases.release('auditSink', lease);
  }
}

/** @returns whether there may be more to send now. */
async function sendBatch(deps: Deps, sink: AuditSink, lease: Lease, signal: AbortSignal): Promise<boolean> {
  const { auditSink: store } = deps.storage.operations;
  const batch = await store.nextBatch(lease, deps.newId('auditBatch'), batchMax);
  const newest = batch?.entries.at(-1);
  if (batch === undefined || newest === undefined) return false;
  const body = auditSinkBody(newest.createdAt, batch.entries.map(toWireEntry));
  try {
    await sink.post(batch.id, body, deps.now(), signal);
  } catch (error) {
    if (!(error instanceof AuditSinkError)) throw error;
    sink.counts.failed += 1;
    const delayMs = Math.min(firstDelayMs * 2 ** batch.failures, delayMsMax);
    await store.markFailed(lease, error.message, delayMs);
    // Once for each outage: the metrics count the attempts.
    if (batch.failures === 0) deps.logger.warn({ reason: error.message }, 'entries of the audit log wait for their receiver');
    return false;
  }
  await store.markSent(lease);
  sink.counts.sent += batch.entries.length;
  if (batch.failures > 0) deps.logger.info('the receiver of the audit log takes entries again');
  return true;
}

/** An entry as GraphQL names its members. */
function toWireEntry(entry: AuditEntry): object {
  const { id, createdAt, orgId, actorUserId, actorEmail, actorKeyId, action, kind, outcome, count } = entry;
  const { targetKind, targetId, targetIds, address, changes, requestId } = entry;
  return {
    ...{ id, createdAt, orgId, actorUserId, actorEmail, actorKeyId, action, kind, outcome, count },
    ...{ targetKind, targetId, targetIds, address, changes, requestId },
  };
}
