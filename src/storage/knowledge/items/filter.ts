// Raw SQL: which items a search covers, as a part of the statements that rank passages.
import type { ItemFilter } from '../../../entities/knowledge/item-filter.ts';
import type { Parameters } from '../../ground/sql/where.ts';
import { type AccessGate, openRuleCondition } from '../permissions/gate.ts';

/** The items that a search is limited to. */
export interface ItemLimits {
  readonly itemIds?: readonly string[];
  readonly filter?: ItemFilter;
  /** What the person who asks may open of MIRRORED sources. */
  readonly gate?: AccessGate;
}

/** The items that a search is limited to by their ids: those that were asked for, among the few that a person may open. */
function listItemIds({ itemIds, gate }: ItemLimits): readonly string[] | undefined {
  const openIds = gate?.itemIds;
  if (itemIds === undefined || openIds === undefined) return itemIds ?? openIds;
  const open = new Set(openIds);
  return itemIds.filter((id) => open.has(id));
}

/**
 * The condition on a column with ids of items, beginning with `and`; '' without limits. For every statement that finds passages.
 *
 * @param sources  the placeholder of the array of sources that are searched.
 */
export function itemLimitsCondition(
  limits: ItemLimits,
  parameters: Parameters,
  place: { readonly column: string; readonly sources: string },
): string {
  const itemIds = listItemIds(limits);
  const idCondition = itemIds === undefined ? '' : ` and ${place.column} = any(${parameters.add(itemIds)}::text[])`;
  return idCondition + filterCondition(limits.filter, parameters, place);
}

/**
 * A statement that reads the items which a search is limited to, with the number of their passages; undefined without limits.
 *
 * @param sources  the placeholder of the array of sources that are searched.
 */
export function fittingItemsSql(limits: ItemLimits, parameters: Parameters, sources: string): string | undefined {
  const itemIds = listItemIds(limits);
  const conditions = [
    ...(itemIds === undefined ? [] : [`fitting.id = any(${parameters.add(itemIds)}::text[])`]),
    ...filterConditions(limits.filter, parameters, sources),
  ];
  if (conditions.length === 0) return undefined;
  const open = openRuleCondition(limits.gate, parameters, { source: 'fitting."dataSourceId"', rule: 'fitting."accessRuleId"' });
  return `select fitting.id, fitting."liveGeneration" as generation, fitting."createdAt" as created_at, fitting."documentCount" as passages
    from knowledge_items as fitting
    where fitting."dataSourceId" = any(${sources}::text[]) and fitting."liveGeneration" is not null and ${conditions.join(' and ')}${open}`;
}

/** The items are read once for a statement, into a hash: `is true` keeps the planner from making a join of it. */
function filterCondition(
  filter: ItemFilter | undefined,
  parameters: Parameters,
  { column, sources }: { readonly column: string; readonly sources: string },
): string {
  const conditions = filterConditions(filter, parameters, sources);
  if (conditions.length === 0) return '';
  return ` and (${column} in (select fitting.id from knowledge_items as fitting
    where fitting."dataSourceId" = any(${sources}) and fitting."liveGeneration" is not null and ${conditions.join(' and ')})) is true`;
}

function filterConditions(filter: ItemFilter | undefined, parameters: Parameters, sources: string): readonly string[] {
  if (filter === undefined) return [];
  const { sourceTypes, mimeTypes, pathPrefix, updatedAfter } = filter;
  const conditions: string[] = [];
  if (sourceTypes !== undefined) {
    conditions.push(
      `fitting."dataSourceId" in (select id from data_sources where id = any(${sources}::text[]) and type = any(${parameters.add(sourceTypes)}::text[]))`,
    );
  }
  if (mimeTypes !== undefined) conditions.push(mimeCondition(mimeTypes, parameters));
  if (pathPrefix !== undefined) conditions.push(pathCondition(parameters.add(pathPrefix)));
  if (updatedAfter !== undefined) conditions.push(`fitting."indexedAt" > ${parameters.add(updatedAfter)}::timestamptz`);
  return conditions;
}

function mimeCondition(mimeTypes: readonly string[], parameters: Parameters): string {
  const kind = `split_part(lower(fitting."mimeType"), ';', 1)`;
  const exact = mimeTypes.filter((type) => !type.endsWith('/*')).map((type) => type.toLowerCase());
  const families = mimeTypes.filter((type) => type.endsWith('/*')).map((type) => type.slice(0, -2).toLowerCase());
  return `(${kind} = any(${parameters.add(exact)}::text[]) or split_part(${kind}, '/', 1) = any(${parameters.add(families)}::text[]))`;
}

function pathCondition(prefix: string): string {
  const path = `fitting.metadata->>'path'`;
  const places = ['fitting."contentUrl"', path, `(fitting.metadata->>'repository') || '/' || (${path})`, 'fitting.name'];
  return `(${places.map((place) => `coalesce(starts_with(${place}, ${prefix}::text), false)`).join(' or ')})`;
}
