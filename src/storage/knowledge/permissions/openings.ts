// Raw SQL: which principal of a person opens which access list.
import type { Database } from '../../ground/database.ts';
import { openedSetsSql, type Reader } from './open-rules.ts';
import type { PrincipalKey } from './principals.ts';

/** A principal of a person that is named by an access list. */
export interface Opening extends PrincipalKey {
  /** Of a group, where it is known. */
  readonly name: string | null;
}

/**
 * Why a person opens documents of a MIRRORED source: for each of their access lists, the principals of the person that it names. A document that the
 * person may not open is absent.
 *
 * Cost: two statements.
 */
export async function findOpenings(
  db: Database,
  { orgId, userId, keyId }: Reader,
  dataSourceId: string,
  itemIds: readonly string[],
  maxAgeMs: number,
): Promise<ReadonlyMap<string, readonly (readonly Opening[])[]>> {
  if (itemIds.length === 0) return new Map();
  const items = await db.query<{ readonly id: string; readonly setIds: readonly number[] }>(itemsSql, [dataSourceId, itemIds]);
  const rows = await db.query<Opening & { readonly setId: number }>(openingsSql, [
    [dataSourceId],
    orgId,
    userId,
    keyId ?? '',
    maxAgeMs,
    [...new Set(items.flatMap(({ setIds }) => setIds))],
  ]);
  const bySet = Map.groupBy(rows, ({ setId }) => setId);
  const entries = items.map(({ id, setIds }) => [id, setIds.map((setId) => bySet.get(setId) ?? [])] as const);
  return new Map(entries.filter(([, lists]) => lists.length > 0 && lists.every((list) => list.length > 0)));
}

const itemsSql = `
select item.id, rule."setIds" from knowledge_items as item join access_rules as rule on rule.id = item."accessRuleId"
where item."dataSourceId" = $1 and item.id = any($2::text[])`;

const openingsSql = `${openedSetsSql}
select naming."setId", known.kind, known.key, known.name from opened_sets
join access_set_principals as naming on naming."setId" = opened_sets.id
join principals on principals.id = naming."principalId"
join permission_principals as known on known.id = principals.id
join access_sets on access_sets.id = naming."setId"
join sources on sources.id = access_sets."dataSourceId"
where naming."setId" = any($6::int[]) and (sources."linkShared" = 'FINDABLE' or not starts_with(known.kind, 'link-'))
order by naming."setId", known.kind, known.key`;
