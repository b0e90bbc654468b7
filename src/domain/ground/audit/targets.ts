import { kindOfId } from '../../../entities/ground/ids.ts';
import { auditTargetsMax } from '../../../entities/operations/audit.ts';
import type { NewAuditEntry } from '../../../storage/operations/audit/entries.ts';

/** The first known id is the target; all of them are kept. */
export function targets(ids: readonly string[]): Pick<NewAuditEntry, 'targetKind' | 'targetId' | 'targetIds'> {
  const validIds = [...new Set(ids)].filter((id) => kindOfId(id) !== undefined).slice(0, auditTargetsMax);
  const [first] = validIds;
  return {
    targetKind: first === undefined ? null : (kindOfId(first) ?? null),
    targetId: first ?? null,
    targetIds: validIds,
  };
}
