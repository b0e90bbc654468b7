import pino from 'pino';
import { AuditTrail } from '../../../src/domain/ground/audit/trail.ts';
import { makeId } from '../../../src/entities/ground/ids.ts';
import type { Settings } from '../../../src/settings.ts';
import type { Storage } from '../../../src/storage/storage.ts';

/** An audit trail without a database: it writes nothing. */
export function forgetfulAudit(settings: Settings): AuditTrail {
  const batch = { add: () => true, flush: async () => undefined, close: async () => undefined };
  return new AuditTrail({
    settings,
    storage: { operations: { auditBatch: batch } } as unknown as Storage,
    logger: pino({ level: 'silent' }),
    newId: (kind) => makeId(kind, Date.now()),
    now: () => new Date(),
  });
}
