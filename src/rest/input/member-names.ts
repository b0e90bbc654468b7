import { camelNames, type MemberNames } from '../../http/input/names.ts';
import { toSnakeCase } from '../../lib/text/text.ts';
import type { DeclaredRoute } from '../route.ts';

/**
 * Members in snake_case, but for those the route keeps as they are: the contract adds `generateCitations` to a format of another hand.
 * Both spellings are taken.
 */
export function memberNames(row: Pick<DeclaredRoute, 'bodyCase' | 'camelMembers'>): MemberNames {
  if (row.bodyCase !== 'snake') return camelNames;
  const keptNames = new Set(row.camelMembers ?? []);
  return {
    wire: (name) => (keptNames.has(name) ? name : toSnakeCase(name)),
    other: (name) => {
      const other = keptNames.has(name) ? toSnakeCase(name) : name;
      return other === (keptNames.has(name) ? name : toSnakeCase(name)) ? undefined : other;
    },
    key: `snake ${[...keptNames].sort().join(' ')}`,
  };
}
