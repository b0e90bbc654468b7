import { membersOf } from '../../../../lib/json/json.ts';

/** What a listing leaves for the next run. */
export interface TrackerState {
  readonly projectKey: string;
  readonly cloudId: string;
  /** When the last listing began, ISO 8601. */
  readonly listedAt: string;
  /** When the last full listing began, ISO 8601. */
  readonly fullAt: string;
  /** Runs after it. */
  readonly runs: number;
}

/** @returns undefined for a state that cannot be used, such as that of another project. */
export function readState(value: unknown, projectKey: string, cloudId: string): TrackerState | undefined {
  const { listedAt, fullAt, runs, ...of } = membersOf(value);
  if (of.projectKey !== projectKey || of.cloudId !== cloudId) return undefined;
  if (!isTime(listedAt) || !isTime(fullAt) || typeof runs !== 'number') return undefined;
  return { projectKey, cloudId, listedAt, fullAt, runs };
}

/**
 * When the fields of all issues are read again although only some were updated: a comment that was deleted, or a right to see comments that changed, is
 * no update. Twenty runs are three weeks of a source that is refreshed daily.
 */
const runsBetween = 20;
const daysBetween = 30;
const dayMs = 86_400_000;

export function isFullDue({ fullAt, runs }: TrackerState, now: Date): boolean {
  return runs >= runsBetween - 1 || now.getTime() - Date.parse(fullAt) >= daysBetween * dayMs;
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
