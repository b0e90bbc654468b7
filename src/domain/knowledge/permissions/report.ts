import { findPermissionKind } from '../../../engine/knowledge/connectors/registry.ts';
import { permissionFeedMs } from '../../../engine/knowledge/sync/permission-jobs.ts';
import type { Page, PageRequest } from '../../../entities/ground/page.ts';
import type { DataSource, DataSourceType } from '../../../entities/knowledge/data-source.ts';
import { emailServices } from '../../../entities/knowledge/permissions.ts';
import type { User } from '../../../entities/people/account.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { PermissionReadingState, PermissionReport } from '../../../storage/knowledge/permissions/report.ts';
import type { Deps } from '../../deps.ts';
import { canEditDataSource } from '../../ground/access/access.ts';
import { getMirroredSource } from './mirrored-source.ts';

type ReportedSource = Pick<DataSource, 'id' | 'orgId' | 'ownerUserId' | 'orgVisible' | 'type' | 'access'>;

/**
 * What is known of who may open the documents of sources, in their order; null for a source that is LENT, and for callers who neither own the source nor
 * administer it: the numbers count documents that they may not open.
 */
export async function findPermissionReports(
  { storage }: Deps,
  caller: Caller,
  sources: readonly ReportedSource[],
): Promise<readonly (PermissionReport | null)[]> {
  const reportedSources = sources.filter((source) => isReported(caller, source));
  if (reportedSources.length === 0) return sources.map(() => null);
  const reports = await storage.knowledge.permissions.reports(reportedSources.map(toReported));
  return sources.map(({ id }) => reports.get(id) ?? null);
}

/**
 * Persons of the organization who are known at a MIRRORED source neither by an account nor, where e-mails count there, by a verified one: they find what is
 * open to all. In the order of their ids, for administrators.
 *
 * @throws DomainError NOT_FOUND for a source that the caller may not see; FORBIDDEN for everyone except administrators; CONFLICT for a source that is LENT.
 */
export async function listUnidentifiedPeople(
  deps: Deps,
  caller: Caller,
  dataSourceId: string,
  page: PageRequest,
): Promise<Page<User>> {
  const source = await getMirroredSource(
    deps,
    caller,
    dataSourceId,
    'Only administrators may ask who is not known at a data source',
  );
  return deps.storage.knowledge.permissions.unidentified(toReported(source), page);
}

function toReported({ id, type }: Pick<DataSource, 'id' | 'type'>) {
  const service = findPermissionKind(type)?.service ?? null;
  // What a program pushes names people by e-mail.
  return { id, service, tellsEmails: service === null || emailServices.has(service) };
}

/** How far the reading of the permissions of a source is, and how late it is. */
export interface PermissionReading extends Omit<PermissionReadingState, 'dataSourceId'> {
  /** How much later than at the source a change counts here at most, while readings succeed; 0 where permissions are pushed. */
  readonly latenessMs: number;
  /** When nobody finds anything of the source any more, unless its permissions are read before; null before the first reading, and where they are pushed. */
  readonly closesAt: Date | null;
}

/** The same sources and callers as of `findPermissionReports`. Cost: one statement for any number of sources. */
export async function findPermissionReadings(
  deps: Deps,
  caller: Caller,
  sources: readonly ReportedSource[],
): Promise<readonly (PermissionReading | null)[]> {
  const ids = sources.flatMap((source) => (isReported(caller, source) ? [source.id] : []));
  if (ids.length === 0) return sources.map(() => null);
  const states = await deps.storage.knowledge.permissions.readingStates(ids);
  const reportedIds = new Set(ids);
  return sources.map(({ id, type }) => (reportedIds.has(id) ? toReading(deps, type, states.get(id)) : null));
}

const beforeTheFirst = { isRunning: false, startedAt: null, itemCount: 0, readAt: null, failedAt: null } as const;

function toReading({ settings }: Deps, type: DataSourceType, state: PermissionReadingState | undefined): PermissionReading {
  const { isRunning, startedAt, itemCount, readAt, failedAt } = state ?? beforeTheFirst;
  const kind = findPermissionKind(type);
  const periodMs = kind?.hasChangeFeed === true ? permissionFeedMs : settings.PERMISSION_SYNC_MINUTES * 60_000;
  const maxAgeMs = settings.PERMISSION_MAX_AGE_HOURS * 3_600_000;
  return {
    ...{ isRunning, startedAt, itemCount, readAt, failedAt },
    latenessMs: kind === undefined ? 0 : periodMs,
    closesAt: kind === undefined || readAt === null ? null : new Date(readAt.getTime() + maxAgeMs),
  };
}

function isReported(caller: Caller, source: ReportedSource): boolean {
  return source.access === 'MIRRORED' && canEditDataSource(caller, source);
}
