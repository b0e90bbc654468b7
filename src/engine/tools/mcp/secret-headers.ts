import { secretKeysIn, secretReference } from '../../../entities/agents/part.ts';
import { DomainError } from '../../../entities/ground/errors.ts';

type Headers = Readonly<Record<string, string>>;
/** The values of secrets by key; keys without a value are left out. */
export type SecretValues = (keys: readonly string[]) => Promise<ReadonlyMap<string, string>> | ReadonlyMap<string, string>;

/**
 * Fills `{{secret:KEY}}` in the values of headers.
 *
 * @throws DomainError INVALID_VALUE for a secret without a value, and for one that a header cannot carry. No message repeats a value.
 */
export async function fillHeaders(headers: Headers, valuesOf: SecretValues): Promise<Headers> {
  const values = await valuesIn(headers, valuesOf);
  for (const [key, value] of values) {
    if (!isHeaderText(value))
      throw new DomainError('INVALID_VALUE', `The secret ${key} of this MCP server is no text for a header`);
  }
  return Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, fill(text, values, (value) => value)]));
}

/** The same in an address, where values are percent-encoded. @throws DomainError INVALID_VALUE for a secret without a value. */
export async function fillAddress(address: string, valuesOf: SecretValues): Promise<string> {
  return fill(address, await valuesIn(address, valuesOf), encodeURIComponent);
}

async function valuesIn(template: unknown, valuesOf: SecretValues): Promise<ReadonlyMap<string, string>> {
  const keys = secretKeysIn(template);
  if (keys.length === 0) return new Map();
  const valuesByKey = await valuesOf(keys);
  const valueEntries = keys.map((key): [string, string] => {
    const value = valuesByKey.get(key);
    if (value === undefined) throw new DomainError('INVALID_VALUE', `The secret ${key} of this MCP server has no value`);
    return [key, value];
  });
  return new Map(valueEntries);
}

function fill(text: string, values: ReadonlyMap<string, string>, encode: (value: string) => string): string {
  return text.replaceAll(secretReference, (_all, key: string) => encode(values.get(key) ?? ''));
}

export function isHeaderText(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text);
}
