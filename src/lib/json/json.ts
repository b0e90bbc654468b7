/** A JSON object whose members nobody has checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return hasMembers(value) && !Array.isArray(value);
}

/** Whether a value is an object or an array. */
export function hasMembers(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null;
}

/** The members of an object or array; none for any other value. For replies of other services, which leave out members or send null. */
export function membersOf(value: unknown): JsonObject {
  return hasMembers(value) ? value : noMembers;
}

/** The items of an array; none for any other value. */
export function readElements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : noItems;
}

/** A string; undefined for any other value. */
export function readString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The strings of an array; none for any other value. */
export function readStrings(value: unknown): readonly string[] {
  return readElements(value).filter((item) => typeof item === 'string');
}

/** The members of an object that are strings; none for any other value. */
export function readStringMembers(value: unknown): Readonly<Record<string, string>> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const noMembers: JsonObject = Object.freeze({});
const noItems: readonly unknown[] = Object.freeze([]);

/** The same record with another value for each name. */
export function mapMembers<Name extends string, Value, Result>(
  record: Readonly<Record<Name, Value>>,
  toResult: (value: Value) => Result,
): Readonly<Record<Name, Result>> {
  const entries = Object.entries<Value>(record).map(([name, value]) => [name, toResult(value)]);
  return Object.fromEntries(entries) as Record<Name, Result>;
}

/** The value of a JSON text; undefined for what is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
