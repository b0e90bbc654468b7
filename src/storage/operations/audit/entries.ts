import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { AuditEntry, AuditFilter } from '../../../entities/operations/audit.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';
import { listEntries, readEntries } from './entry-lists.ts';
import { type ChangedThing, stateBefore, type ThingState } from './states.ts';
import { targetNames } from './target-names.ts';

/** An entry without the actor's e-mail, which the database adds. */
export type NewAuditEntry = Omit<AuditEntry, 'actorEmail'>;

export class AuditEntryStore extends Store {
  /** Writes entries. Each is sent to the receiver of AUDIT_SINK_URL, again when it changes. An existing entry gets the new target, outcome and count, so a write may be repeated. */
  write(entries: readonly NewAuditEntry[]): Promise<void> {
    return writeEntries(this.db, entries);
  }

  /** Says of an entry that its call failed after its change; nothing when the change was rolled back. */
  async fail(id: string): Promise<void> {
    await this.db.prisma.auditEntry.updateMany({ where: { id }, data: { outcome: 'FAILED', sinkPosition: null } });
  }

  /** In any order. */
  findMany(ids: readonly string[]): Promise<readonly AuditEntry[]> {
    return readEntries(this.db, ids);
  }

  /** What a mutation is about to change, as it is now; undefined for kinds of things whose values are not recorded. */
  stateBefore(changed: ChangedThing): Promise<ThingState | undefined> {
    return stateBefore(this.db, changed);
  }

  /** What the things of an organization are called now that entries name: see `targetNames`. Cost: one statement. */
  namesOf(orgId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return targetNames(this.db, orgId, ids);
  }

  /** Newest first. */
  list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEntry>> {
    return listEntries(this.db, filter, page);
  }
}

/** Cost: two statements; for entries that exist already, one more each. */
async function writeEntries({ prisma: { auditEntry, user } }: Database, entries: readonly NewAuditEntry[]): Promise<void> {
  const actorIds = [...new Set(entries.map(({ actorUserId }) => actorUserId))];
  const actors = await user.findMany({ where: { id: { in: actorIds } }, select: { id: true, email: true } });
  const emails = new Map(actors.map(({ id, email }) => [id, email]));
  const data = entries.map(({ changes, targetIds, ...entry }) => ({
    ...entry,
    targetIds: [...targetIds],
    actorEmail: emails.get(entry.actorUserId) ?? '',
    changes: changes as unknown as Prisma.InputJsonArray,
  }));
  const { count } = await auditEntry.createMany({ data, skipDuplicates: true });
  if (count === data.length) return;
  for (const { id, orgId, outcome, count: calls, targetKind, targetId, targetIds } of data)
    await auditEntry.updateMany({
      where: { id },
      data: { orgId, outcome, count: calls, targetKind, targetId, targetIds, sinkPosition: null },
    });
}
