import { memberName } from '../documents/checks.ts';
import type { DeclaredRoute } from '../route.ts';

/** How a route shows members, by their names. */
export type ShowMembers = (value: unknown) => unknown;

/** @returns undefined for a route that shows what its document selects. */
export function compileMembers({ omitNull, blankNull, lists, shapes }: DeclaredRoute): ShowMembers | undefined {
  if ((omitNull ?? blankNull ?? lists ?? shapes) === undefined) return undefined;
  const omitted = new Set(omitNull);
  const blanks = new Set(Object.keys(blankNull ?? {}).map(memberName));
  const listed = new Set(Object.keys(lists ?? {}));
  const shaped = new Map(Object.entries(shapes ?? {}).map(([place, shape]) => [memberName(place), shape]));
  /** The members of a reply, wherever they stand in it. */
  const show = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(show);
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    const shown: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const shape = shaped.get(name);
      if (shape === 'unshown') continue;
      if (shape !== undefined) {
        const made = shape.show(member as never, value as never);
        if (made !== null || !omitted.has(name)) shown[name] = made;
      } else if (member !== null) shown[name] = show(listed.has(name) ? (member as { readonly nodes?: unknown }).nodes : member);
      else if (!omitted.has(name)) shown[name] = blanks.has(name) ? '' : null;
    }
    return shown;
  };
  return show;
}
