// Raw SQL: interning, and changes of many items by values of their own in one statement.
import { createHash } from 'node:crypto';
import type { ItemAccess, ItemPermissions, UnknownPermissions } from '../../../entities/knowledge/permissions.ts';
import type { Transaction } from '../../ground/database.ts';
import { sharePermissions } from '../../ground/sql/locks.ts';
import { internPrincipals, type PrincipalPlace } from './principals.ts';

/** The source whose permissions are written. */
export interface PermissionPlace extends PrincipalPlace {
  readonly dataSourceId: string;
}

/**
 * Stores who may open items. Those that have it already are not written; an item that is not there is ignored. The last of two with one id wins.
 *
 * @returns how many changed. Cost: at most ten statements for any number of items, four of them for items of which nothing changed.
 */
export async function writeItemAccess(tx: Transaction, place: PermissionPlace, items: readonly ItemAccess[]): Promise<number> {
  if (items.length === 0) return 0;
  await sharePermissions(tx, place.orgId);
  const itemsById = [...new Map(items.map((item) => [item.uniqueId, item])).values()];
  const rules = await internRules(
    tx,
    place,
    itemsById.map(({ permissions }) => permissions),
  );
  const changedRows = await tx.query<{ readonly id: string; readonly rule: number | null }>(writeSql, [
    place.dataSourceId,
    itemsById.map(({ uniqueId }) => uniqueId),
    itemsById.map((_item, index) => rules[index] ?? null),
    itemsById.map(({ permissions }) => (isUnknown(permissions) ? JSON.stringify(permissions.unknown) : null)),
  ]);
  if (changedRows.length > 0) {
    await tx.execute(writeChunksSql, [changedRows.map(({ id }) => id), changedRows.map(({ rule }) => rule)]);
  }
  return changedRows.length;
}

/** Finds the rules of permissions, and adds those that are not there. @returns their ids, in the order given; null for permissions that are not known. */
async function internRules(
  tx: Transaction,
  place: PermissionPlace,
  permissions: readonly ItemPermissions[],
): Promise<readonly (number | null)[]> {
  const lists = permissions.flatMap((each) => (isUnknown(each) ? [] : each.lists));
  const principals = await internPrincipals(tx, place, lists.flat());
  const setIds = await internLists(
    tx,
    'access_sets',
    place.dataSourceId,
    lists.map((list) => principals.idsOf(list)),
  );
  let next = 0;
  const conjunctions = permissions.map((each) => {
    if (isUnknown(each)) return undefined;
    const ids = setIds.slice(next, next + each.lists.length);
    next += each.lists.length;
    return [...new Set(ids)].sort((a, b) => a - b);
  });
  const ruleIds = await internLists(
    tx,
    'access_rules',
    place.dataSourceId,
    conjunctions.flatMap((ids) => (ids === undefined ? [] : [ids])),
  );
  let nextRule = 0;
  return conjunctions.map((ids) => {
    if (ids === undefined) return null;
    const ruleId = ruleIds[nextRule] ?? null;
    nextRule += 1;
    return ruleId;
  });
}

type ListTable = 'access_sets' | 'access_rules';
const memberColumn = { access_sets: 'principals', access_rules: '"setIds"' } as const satisfies Record<ListTable, string>;

/** The rows of lists of ids, in the order given: equal lists of a source are one row. */
async function internLists(
  tx: Transaction,
  table: ListTable,
  dataSourceId: string,
  lists: readonly (readonly number[])[],
): Promise<readonly number[]> {
  if (lists.length === 0) return [];
  const hashes = lists.map((list) => createHash('sha256').update(list.join(',')).digest('base64url'));
  const listsByHash = new Map(hashes.map((hash, index) => [hash, lists[index] ?? []]));
  const sortedHashes = [...listsByHash.keys()].sort();
  const existingRows = await tx.query<InternedList>(findListsSql(table), [dataSourceId, sortedHashes]);
  const ids = new Map(existingRows.map(({ contentHash, id }) => [contentHash, id]));
  const newHashes = sortedHashes.filter((hash) => !ids.has(hash));
  if (newHashes.length > 0) {
    const texts = newHashes.map((hash) => `{${(listsByHash.get(hash) ?? []).join(',')}}`);
    const addedRows = await tx.query<InternedList>(addListsSql(table), [dataSourceId, newHashes, texts]);
    if (table === 'access_sets') await tx.execute(addSetPrincipalsSql, [addedRows.map(({ id }) => id)]);
    // A row that another process added meanwhile is not among the added ones.
    const rows = await tx.query<InternedList>(findListsSql(table), [dataSourceId, newHashes]);
    for (const { contentHash, id } of rows) ids.set(contentHash, id);
  }
  return hashes.map((hash) => {
    const id = ids.get(hash);
    if (id === undefined) throw new Error(`a row of ${table} is gone`);
    return id;
  });
}

interface InternedList {
  readonly id: number;
  readonly contentHash: string;
}

function isUnknown(permissions: ItemPermissions): permissions is { readonly unknown: UnknownPermissions } {
  return 'unknown' in permissions;
}

const findListsSql = (table: ListTable) =>
  `select id, "contentHash" from ${table} where "dataSourceId" = $1 and "contentHash" = any($2::text[])`;

const addListsSql = (table: ListTable) => `
insert into ${table} ("dataSourceId", "contentHash", ${memberColumn[table]})
select $1, given.hash, given.list::int[] from unnest($2::text[], $3::text[]) as given(hash, list)
on conflict do nothing returning id, "contentHash"`;

const addSetPrincipalsSql = `
insert into access_set_principals ("principalId", "setId")
select named.id, access_sets.id from access_sets cross join lateral unnest(access_sets.principals) as named(id) where access_sets.id = any($1::int[])
on conflict do nothing`;

const writeSql = `
update knowledge_items as item set "accessRuleId" = given.rule, "accessUnknown" = given.reason::jsonb
from unnest($2::text[], $3::int[], $4::text[]) as given(unique_id, rule, reason)
where item."dataSourceId" = $1 and item."uniqueId" = given.unique_id
  and (item."accessRuleId" is distinct from given.rule or item."accessUnknown" is distinct from given.reason::jsonb)
returning item.id, item."accessRuleId" as rule`;

const writeChunksSql = `
update chunks set access_rule_id = given.rule from unnest($1::text[], $2::int[]) as given(item_id, rule)
where chunks.item_id = given.item_id and chunks.access_rule_id is distinct from given.rule`;
