import { camelNames, type MemberNames, snakeCase } from '../../http/input/names.ts';
import type { DeclaredRoute } from '../route.ts';

/**
 * Members in snake_case, but for those the route keeps as they are: the contract adds `generateCitations` to a format of another hand.
 * Both spellings are taken.
 */
export function memberNames(row: Pick<DeclaredRoute, 'bodyCase' | 'camelMembers'>): MemberNames {
  if (row.bodyCase !== 'snake') return camelNames;
  const keptNames = new Set(row.camelMembers ?? []);
  return {
    wire: (name) => (keptNames.has(name) ? name : snakeCase(name)),
    other: (name) => {
      const other = keptNames.has(name) ? snakeCase(name) : name;
      return other === (keptNames.has(name) ? name : snakeCase(name)) ? undefined : other;
    },
    key: `snake ${[...keptNames].sort().join(' ')}`,
  };
}
