// Raw SQL: a filter by attributes as a condition.
import type { AttributeFilter } from '../../../entities/knowledge/vector-store.ts';
import type { Parameters } from '../../database/sql/where.ts';

const operators = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;

/** The condition for an item `i`; never null. Texts are ordered by code point. */
export function attributeCondition(filter: AttributeFilter, given: Parameters): string {
  if ('filters' in filter) {
    return `(${filter.filters.map((part) => attributeCondition(part, given)).join(` ${filter.type} `)})`;
  }
  const own = `(i.metadata->'attributes'->${given.add(filter.key)}::text)`;
  const json = (value: unknown) => `${given.add(JSON.stringify(value))}::jsonb`;
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
        typeof value === 'string' ? [`(${own} #>> '{}') collate "C"`, `${given.add(value)}::text`] : [own, json(value)];
      return `coalesce(jsonb_typeof(${own}) = '${typeof value}' and ${left} ${operator} ${right}, false)`;
    }
  }
}
