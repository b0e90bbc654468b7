import { resolveReference } from './references.ts';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The members that a schema of an object names under `properties`, also in the schemas that it joins: by reference, `allOf`, `anyOf`,
 * `oneOf`, `then` and `else`.
 *
 * @param schema  one that `readSchema` takes for a tool.
 */
export function declaredNames(schema: Schema): ReadonlySet<string> {
  const names = new Set<string>();
  const seen = new Set<unknown>();
  const add = (one: unknown) => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return;
    seen.add(one);
    const { $ref, properties, allOf, anyOf, oneOf, then: whenTrue, else: whenFalse } = one as Schema;
    for (const name of Object.keys(properties ?? {})) names.add(name);
    for (const inner of [allOf, anyOf, oneOf, whenTrue, whenFalse].flat()) add(inner);
    if (typeof $ref === 'string') add(resolveReference(schema, $ref));
  };
  add(schema);
  return names;
}
