import type { JsonObject } from '../../../../lib/json/json.ts';

/**
 * When everything is listed although a feed of changes is there. A feed does not tell all: rights that come or go with a group, and events that the
 * service lost, are not in it. Twenty runs are three weeks of a source that is refreshed daily; a source that is refreshed seldom is listed whole
 * after thirty days, when services begin to forget their feeds.
 */
const runsBetween = 20;
const daysBetween = 30;
const dayMs = 86_400_000;

/** How long the last full listing is ago; a part of the state of a source. */
export interface SinceFull extends JsonObject {
  /** Time of that listing, ISO 8601. */
  readonly fullAt: string;
  /** Runs after it. */
  readonly runs: number;
}

export function isFullDue({ fullAt, runs }: SinceFull, now: Date): boolean {
  return runs >= runsBetween - 1 || !(now.getTime() - Date.parse(fullAt) < daysBetween * dayMs);
}

/** More ids are not carried from run to run: such a source is listed whole each time. */
export const watchedIdsMax = 20_000;
/** More ids are not kept with the place of a listing, which is written with each of its pages. */
export const placeIdsMax = 2_000;
/** More deletions are not carried to the next run: it lists everything. */
export const goneIdsMax = 1_000;
