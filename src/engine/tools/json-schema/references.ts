import { decodePercents } from '../../../lib/text/text.ts';

type Schema = Readonly<Record<string, unknown>>;

/** What a local reference (`#`, `#/$defs/name`) names in a schema; undefined for others, and for nothing. */
export function resolveReference(root: unknown, reference: string): unknown {
  if (!/^#(\/|$)/.test(reference)) return undefined;
  let target: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const name = decodePercents(part).replaceAll('~1', '/').replaceAll('~0', '~');
    const isNode = typeof target === 'object' && target !== null;
    target = isNode && Object.hasOwn(target as object, name) ? (target as Schema)[name] : undefined;
  }
  return target;
}
