import type { DataSource } from '../../../entities/knowledge/data-source.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { PermissionReport } from '../../../storage/knowledge/permissions/report.ts';
import type { Deps } from '../../deps.ts';
import { canEditDataSource } from '../../ground/access/access.ts';

/**
 * What is known of who may open the documents of sources, in their order; null for a source that is LENT, and for callers who neither own the source nor
 * administer it: the numbers count documents that they may not open.
 */
export async function findPermissionReports(
  { storage }: Deps,
  caller: Caller,
  sources: readonly Pick<DataSource, 'id' | 'orgId' | 'ownerUserId' | 'orgVisible'>[],
): Promise<readonly (PermissionReport | null)[]> {
  const editableIds = sources.filter((source) => canEditDataSource(caller, source)).map(({ id }) => id);
  const reports = editableIds.length === 0 ? new Map() : await storage.knowledge.permissions.reports(editableIds);
  return sources.map(({ id }) => reports.get(id) ?? null);
}
