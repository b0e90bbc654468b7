import type { AttributeFilter } from '../../../entities/knowledge/vector-store.ts';
import type { DataSourceFilter } from '../../../entities/people/access.ts';
import type { Storage } from '../../../storage/storage.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { FileSearchOptions } from './options.ts';

/** What one search of the knowledge engine covers: sources of one organization. */
export interface SearchedPlace {
  readonly orgId: string;
  readonly dataSourceIds: readonly string[];
}

export type StoreFinder = Pick<Storage['knowledge']['vectorStores'], 'find' | 'itemsWith' | 'filesOfItems' | 'touch'>;

/** The vector stores that a search may cover. */
export interface ReadableStores {
  readonly stores: StoreFinder;
  readonly readableSources: DataSourceFilter;
}

/**
 * Where a run searches: the vector stores that the tool names, the sources that it names, and without either all sources of the agent. A model
 * without an agent has no sources of its own: there, the sources of the caller that the request names are searched. The rights of the caller were
 * checked when the request was read. Stores that are gone or expired since are left out.
 */
export async function findPlaces(
  { dataSourceIds, vectorStoreIds }: FileSearchOptions,
  { knowledge, charge }: RunPlan,
  { stores, readableSources }: ReadableStores,
  now: Date,
): Promise<readonly SearchedPlace[]> {
  const own = knowledge?.dataSourceIds ?? [];
  const namedSources = dataSourceIds ?? (vectorStoreIds.length === 0 ? own : []);
  const places: SearchedPlace[] = [];
  if (charge.agentId === null && namedSources.length > 0) places.push({ orgId: charge.orgId, dataSourceIds: namedSources });
  const ofAgent = namedSources.filter((id) => own.includes(id));
  if (knowledge !== undefined && ofAgent.length > 0) places.push({ orgId: knowledge.orgId, dataSourceIds: ofAgent });
  const foundStores = await Promise.all(vectorStoreIds.map((id) => stores.find(id, readableSources)));
  for (const store of foundStores) {
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
