import type { DataSource, ItemCounts } from '../../entities/knowledge/data-source.ts';
import { type Members, reads } from '../../entities/members.ts';

/** SQL for the number of agents to which `s` is attached. */
export const usageSql = `(select count(*)::int from agent_data_sources y join agents z on z.id = y."agentId" and not z."isDeleted"
  where y."dataSourceId" = s.id)`;

/** The select list: columns of `s`, and of `counts` where members need them. */
export function columnsOf(members: Members<DataSource>): string {
  return [
    ...ownColumns.filter((name) => keyColumns.has(name) || reads(members, name)).map((name) => `s."${name}"`),
    ...(reads(members, 'isDeleting') ? ['s."deletingAt"'] : []),
    ...(reads(members, 'usageCount') ? [`${usageSql} as "usageCount"`] : []),
    ...(reads(members, 'counts') ? ['counts.*'] : []),
    ...(reads(members, 'failedItem') ? [failedItemSql] : []),
    ...(reads(members, 'activeRun') ? [activeRunSql] : []),
  ].join(', ');
}

const ownColumns = [
  'id',
  'createdAt',
  'updatedAt',
  'lastIndexedAt',
  'orgId',
  'ownerUserId',
  'name',
  'type',
  'refreshPeriod',
  'data',
  'cite',
  'orgVisible',
  'errorCode',
  'errorMessage',
] as const satisfies readonly (keyof DataSource)[];
/** Always selected: the audit log needs the owner of everything that an administrator is shown. */
const keyColumns: ReadonlySet<string> = new Set(['id', 'orgId', 'ownerUserId']);
/** Needs `counts`. */
const failedItemSql = `(select json_build_object('code', coalesce(f."errorCode", 'FAILED'), 'message', coalesce(f."errorMessage", ''))
  from knowledge_items f where f.id = counts."failedItemId") as "failedItem"`;
const activeRunSql = `(select json_build_object('id', r.id, 'status', r.status, 'listedCount', r."listedCount", 'currentItem', r."currentItem")
  from source_runs r where r."dataSourceId" = s.id and r.status in ('LISTING', 'INDEXING') limit 1) as "activeRun"`;
/** Counted at every reading: nothing that could drift from the items. */
export const counts = `cross join lateral (
  select count(*) filter (where i."indexStatus" = 'INITIALIZED')::int as initialized,
    count(*) filter (where i."indexStatus" = 'QUEUED')::int as queued,
    count(*) filter (where i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING'))::int as active,
    count(*) filter (where i."indexStatus" = 'INDEXED')::int as indexed,
    count(*) filter (where i."indexStatus" = 'SKIPPED')::int as skipped,
    count(*) filter (where i."indexStatus" in ('FAILED', 'CANCELLED'))::int as failed,
    count(*) filter (where i."indexStatus" in ('FAILED', 'CANCELLED') and i."liveGeneration" is not null)::int as answering,
    coalesce(min(i.id) filter (where i."indexStatus" = 'FAILED'),
      case when count(*) filter (where i."indexStatus" = 'INDEXED') = 0 then min(i.id) filter (where i."indexStatus" = 'SKIPPED') end)
      as "failedItemId",
    coalesce(sum(i."indexPercentage") filter (where i."indexStatus" in ('FETCHING', 'PARSING', 'INDEXING')), 0)::int as "percentSum"
  from knowledge_items i where i."dataSourceId" = s.id) as counts`;

export type DataSourceRow = Omit<DataSource, 'counts' | 'isDeleting'> & ItemCounts & { readonly deletingAt: Date | null };

export function dataSourceOf(row: DataSourceRow): DataSource {
  const { initialized, queued, active, indexed, skipped, failed, answering, percentSum } = row;
  return {
    id: row.id,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    lastIndexedAt: row.lastIndexedAt,
    orgId: row.orgId,
    ownerUserId: row.ownerUserId,
    name: row.name,
    type: row.type,
    refreshPeriod: row.refreshPeriod,
    data: row.data,
    cite: row.cite,
    orgVisible: row.orgVisible,
    isDeleting: (row.deletingAt ?? null) !== null,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
    failedItem: row.failedItem ?? null,
    activeRun: row.activeRun ?? null,
    usageCount: row.usageCount,
    counts: { initialized, queued, active, indexed, skipped, failed, answering, percentSum },
  };
}
