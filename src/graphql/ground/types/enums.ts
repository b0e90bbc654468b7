import { builder } from '../builder/builder.ts';

/**
 * Makes a GraphQL enum of an entity's const array, with a sentence for each value; the compiler refuses a missing or a surplus sentence. Names are
 * the values in upper case with `_` between words (`in_progress` → `IN_PROGRESS`); resolvers see the entity's values.
 */
export function createEnum<const Value extends string>(
  name: string,
  description: string,
  values: readonly Value[],
  descriptions: Readonly<Record<Value, string>>,
  extensions: Readonly<Record<string, unknown>> = {},
) {
  const type = builder.enumType<string, Readonly<Record<string, { value: Value; description: string }>>>(name, {
    description,
    extensions,
    values: Object.fromEntries(values.map((value) => [toEnumName(value), { value, description: descriptions[value] }])),
  });
  /** The value, where it is one of the enum. */
  const find = (value: unknown): Value | null => values.find((each) => each === value) ?? null;
  return Object.assign(type, { find });
}

/** `in_progress` → `IN_PROGRESS`, `createdAt` → `CREATED_AT` */
function toEnumName(value: string): string {
  return value
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '_');
}

/** For `extensions`: the values are those of a third-party format, and REST reads and shows them as they are (`in_progress`). */
export const ofFormat = { isOfFormat: true } as const;

/** For `extensions`: the contract of REST calls the value a text and lists no values. */
export const textOnRest = { isTextOnRest: true } as const;
