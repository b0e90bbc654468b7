// SQL: when the refresh of a source `s` is due, by the time of the database.

/** The last moment before which a source was read must lie for its refresh to be due. It varies by a tenth either way, so that sources made together are not due together. */
export const periodBeginSql = `now() - (0.9 + (hashtext(s.id) & 1023) / 5120.0)
  * case s."refreshPeriod" when 'DAILY' then interval '1 day' when 'WEEKLY' then interval '7 days' else interval '30 days' end`;

/** Sources of connected kinds. */
export const syncDueSql = `s."refreshPeriod" <> 'NEVER' and s.type not in ('API', 'FILE_UPLOAD') and s."errorCode" is distinct from 'AUTH'
  and not exists (select 1 from source_runs r where r."dataSourceId" = s.id and r.status in ('LISTING', 'INDEXING'))
  and coalesce(s."lastSyncedAt", s."createdAt") < ${periodBeginSql}`;
