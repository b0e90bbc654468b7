// Raw SQL: ranking. Searches are narrowed by attributes of any type, with comparisons of their own.
import { type ItemKey, toItemKey, toSeconds } from '../../../entities/knowledge/item-keys.ts';
import type { AttributeFilter, AttributeValue } from '../../../entities/knowledge/vector-store.ts';
import type { Database } from '../../ground/database.ts';
import { type Parameters, selectRows } from '../../ground/sql/where.ts';

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** What an item `i` has although it has no such attribute, as JSON. */
const ofItem: Readonly<Record<ItemKey, string>> = {
  data_source_id: `to_jsonb(i."dataSourceId")`,
  source_type: `to_jsonb(i.type)`,
  mime_type: `to_jsonb(split_part(lower(i."mimeType"), ';', 1))`,
  path: `to_jsonb(coalesce(i.metadata->>'path', i."contentUrl", i.filename, i.name))`,
  updated_at: `to_jsonb(extract(epoch from i."indexedAt"))`,
};

type Comparison = Exclude<AttributeFilter, { readonly filters: unknown }>;

/** The items of a store that fit a filter. */
export async function itemsWith(db: Database, storeId: string, filter: AttributeFilter): Promise<readonly string[]> {
  const items = await selectRows<{ readonly id: string }>(
    db,
    (parameters) => `select i.id from knowledge_items i
      where i."dataSourceId" = ${parameters.add(storeId)} and i."indexStatus" <> 'DELETING' and ${attributeCondition(filter, parameters)}`,
  );
  return items.map(({ id }) => id);
}

/** The condition for an item `i`; never null. Texts are ordered by code point. */
export function attributeCondition(filter: AttributeFilter, parameters: Parameters): string {
  if ('filters' in filter) {
    return `(${filter.filters.map((part) => attributeCondition(part, parameters)).join(` ${filter.type} `)})`;
  }
  const attribute = `(i.metadata->'attributes'->${parameters.add(filter.key)}::text)`;
  const condition = toComparison(filter, attribute, parameters);
  const key = toItemKey(filter.key);
  if (key === undefined) return condition;
  const ofItself = toComparison(key === 'updated_at' ? inSeconds(filter) : filter, `(${ofItem[key]})`, parameters);
  return `case when ${attribute} is null then ${ofItself} else ${condition} end`;
}

/** Times are compared as numbers. A value that is no time fits nothing but `ne` and `nin`. */
function inSeconds(filter: Comparison): Comparison {
  const read = (value: AttributeValue): AttributeValue => toSeconds(value) ?? value;
  return 'values' in filter ? { ...filter, values: filter.values.map(read) } : { ...filter, value: read(filter.value) };
}

/** @param own  the SQL of what the item has, as JSON; may be null. */
function toComparison(filter: Comparison, own: string, parameters: Parameters): string {
  const json = (value: unknown) => `${parameters.add(JSON.stringify(value))}::jsonb`;
  if ('values' in filter) {
    return `${filter.type === 'nin' ? 'not ' : ''}coalesce(${own} in (select jsonb_array_elements(${json(filter.values)})), false)`;
  }
  switch (filter.type) {
    case 'eq':
      return `coalesce(${own} = ${json(filter.value)}, false)`;
    case 'ne':
      return `${own} is distinct from ${json(filter.value)}`;
    default: {
      const { value } = filter;
      const operator = operators[filter.type];
      const [left, right] =
        typeof value === 'string' ? [`(${own} #>> '{}') collate "C"`, `${parameters.add(value)}::text`] : [own, json(value)];
      return `coalesce(jsonb_typeof(${own}) = '${typeof value}' and ${left} ${operator} ${right}, false)`;
    }
  }
}
