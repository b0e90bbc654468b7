import { type AuditSink, AuditSinkError, auditSinkBody, createAuditSink } from '../../engine/audit/sink.ts';
import { readEgressOptions } from '../../engine/egress/egress.ts';
import { Pools } from '../../engine/sharing/pools.ts';
import { makeId } from '../../entities/ground/ids.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, good, warning, wrong } from './finding.ts';

const placesMax = 2;

/** Whether the receiver of AUDIT_SINK_URL takes a signed request, which has no entries. */
export async function checkAuditSink(settings: Settings): Promise<readonly Finding[]> {
  const pools = new Pools({ tenantPercent: 100, organizationPercent: 100 });
  const sink = createAuditSink(settings, {
    ...readEgressOptions(settings),
    lookups: pools.queue('lookups', placesMax),
    calls: pools.queue('calls', placesMax),
  });
  if (sink === undefined) return [];
  try {
    return [await findFinding(sink)];
  } finally {
    await sink.close();
  }
}

async function findFinding(sink: AuditSink): Promise<Finding> {
  const now = new Date();
  try {
    await sink.post(makeId('auditBatch', now.getTime()), auditSinkBody(now, []), now, new AbortController().signal);
  } catch (error) {
    if (!(error instanceof AuditSinkError)) throw error;
    return wrong('audit-sink', error.message, 'Entries of the audit log wait until it takes them.');
  }
  if (!sink.isPlain) return good('audit-sink', 'The receiver of AUDIT_SINK_URL takes signed requests.');
  return warning(
    'audit-sink',
    'The receiver of AUDIT_SINK_URL takes signed requests, which cross the network in clear.',
    'Use https:// where others can read along.',
  );
}
