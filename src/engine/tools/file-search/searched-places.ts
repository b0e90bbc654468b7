import { everything } from '../../../entities/filter.ts';
import type { AttributeFilter } from '../../../entities/knowledge/vector-store.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { RunPlan } from '../../runs/run-engine.ts';
import type { FileSearchOptions } from './options.ts';

/** What one search of the knowledge engine covers: sources of one organization. */
export interface SearchedPlace {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
}

export type StoreFinder = Pick<Storage['vectorStores'], 'find' | 'itemsWith' | 'filesOfItems' | 'touch'>;

/**
 * Where a run searches: the vector stores that the request names, the sources that it names, and without either all sources of the agent.
 * The rights of the caller were checked when the request was read. Stores that are gone or expired since are left out.
 */
export async function placesOf(
  { dataSourceIds, vectorStoreIds }: FileSearchOptions,
  { knowledge }: RunPlan,
  stores: StoreFinder,
  now: Date,
): Promise<readonly SearchedPlace[]> {
  const own = knowledge?.dataSourceIds ?? [];
  const named = dataSourceIds ?? (vectorStoreIds.length === 0 ? own : []);
  const places: SearchedPlace[] = [];
  const ofAgent = named.filter((id) => own.includes(id));
  if (knowledge !== undefined && ofAgent.length > 0) places.push({ orgId: knowledge.orgId, dataSourceIds: ofAgent });
  const found = await Promise.all(vectorStoreIds.map((id) => stores.find(id, everything)));
  for (const store of found) {
    if (store === undefined || (store.expiresAt !== null && store.expiresAt <= now)) continue;
    await stores.touch(store.id);
    places.push({ orgId: store.orgId, dataSourceIds: [store.id] });
  }
  return [...Map.groupBy(places, ({ orgId }) => orgId)].map(([orgId, parts]) => ({
    orgId,
    dataSourceIds: [...new Set(parts.flatMap((part) => part.dataSourceIds))],
  }));
}

/** The items of a place that fit a filter; undefined without a filter. */
export async function fittingItems(
  { dataSourceIds }: SearchedPlace,
  filter: AttributeFilter | undefined,
  stores: StoreFinder,
): Promise<readonly string[] | undefined> {
  if (filter === undefined) return undefined;
  return (await Promise.all(dataSourceIds.map((id) => stores.itemsWith(id, filter)))).flat();
}
