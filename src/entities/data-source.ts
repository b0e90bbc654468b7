export const dataSourceTypes = ['API', 'FILE_UPLOAD', 'DRIVE_A', 'DRIVE_B', 'WEB_URL', 'WIKI', 'TRACKER', 'REPO_HOST'] as const;
export type DataSourceType = (typeof dataSourceTypes)[number];

export const refreshPeriods = ['NEVER', 'DAILY', 'WEEKLY', 'MONTHLY'] as const;
export type RefreshPeriod = (typeof refreshPeriods)[number];

export const indexStatuses = [
  'INITIALIZED',
  'QUEUED',
  'FETCHING',
  'PARSING',
  'INDEXING',
  'INDEXED',
  'FAILED',
  'SKIPPED',
  'CANCELLED',
  'DELETING',
] as const;
export type IndexStatus = (typeof indexStatuses)[number];
/** A worker holds a lease in each of these. */
export const activeIndexStatuses = ['FETCHING', 'PARSING', 'INDEXING'] as const satisfies readonly IndexStatus[];
