import { cleanSchema } from './clean-schema.ts';

/**
 * The members that a schema of an object names under `properties`, also in the schemas that it joins: by reference, `allOf`, `anyOf`,
 * `oneOf`, `then` and `else`.
 *
 * @throws SchemaError as `cleanSchema`.
 */
export function declaredNames(schema: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  const names = new Set<string>();
  addNames(cleanSchema(schema), names);
  return names;
}

function addNames(schema: unknown, names: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties, allOf, anyOf, oneOf, then: whenTrue, else: whenFalse } = schema as Readonly<Record<string, unknown>>;
  if (typeof properties === 'object' && properties !== null) for (const name of Object.keys(properties)) names.add(name);
  for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) for (const one of list) addNames(one, names);
  for (const one of [whenTrue, whenFalse]) addNames(one, names);
}
