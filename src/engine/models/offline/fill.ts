import { isObject } from '../../../lib/json/json.ts';

type Schema = Readonly<Record<string, unknown>>;
const depthMax = 12;

/**
 * The smallest value of a JSON Schema: strings hold `words`, numbers and values of lists are those that stand in the text.
 *
 * @returns the value, and the required members that the text does not state: numbers, dates, addresses, and what the schema only refers to.
 */
export function fillSchema(schema: Schema, text: string, words = text): { value: unknown; invented: readonly string[] } {
  const numbers = text.match(/(?<![\p{L}\p{N}.[-])-?\d{1,15}(?:\.\d{1,15})?(?![\p{L}\p{N}\]-])/gu) ?? [];
  const inventedNames: string[] = [];
  const isNamed = (value: unknown) => text.toLowerCase().includes(String(value).toLowerCase());
  const fill = (member: unknown, name: string, depth: number): unknown => {
    const { allowsNull, type = 'string', ...one } = findFirst(member);
    if (one.const !== undefined) return one.const;
    if (Array.isArray(one.enum)) return one.enum.find(isNamed) ?? one.enum[0];
    if (type === 'object' && depth < depthMax) {
      const requiredNames = Array.isArray(one.required) ? one.required.map(String) : [];
      return Object.fromEntries(requiredNames.map((key) => [key, fill(asSchema(one.properties)[key], key, depth + 1)]));
    }
    if (type === 'array' && depth < depthMax)
      return one.default ?? (Number(one.minItems ?? 0) > 0 ? [fill(one.items, name, depth + 1)] : []);
    if (type === 'boolean') return one.default ?? false;
    const isText = type === 'string' && one.format === undefined && one.$ref === undefined;
    if (isText) return one.default ?? words.slice(0, Number(one.maxLength ?? words.length));
    const number = type === 'number' || type === 'integer' ? numbers.shift() : undefined;
    if (number !== undefined) return Number(number);
    if (one.default === undefined && allowsNull !== true) inventedNames.push(name === '' ? 'the value' : name);
    return one.default ?? (allowsNull === true ? null : Number(one.minimum ?? 0));
  };
  return { value: fill(schema, '', 0), invented: inventedNames };
}

function findFirst(member: unknown): Schema {
  const schema = asSchema(member);
  const types = [schema.anyOf ?? schema.oneOf ?? schema.type].flat();
  const first: unknown = types.find((one) => one !== 'null' && asSchema(one).type !== 'null');
  const allowsNull = types.some((one) => one === 'null' || asSchema(one).type === 'null');
  return isObject(first) ? { ...first, allowsNull } : { ...schema, type: first ?? schema.type, allowsNull };
}

const asSchema = (value: unknown): Schema => (isObject(value) ? value : {});
