import type { JsonSchema } from '../../wire/ground/json-schema.ts';

/**
 * Says the default of a member that may be absent in its description instead of the keyword `default`: widely used generators make a
 * required member of everything that has the keyword.
 */
export function withOptionalMembers(schema: JsonSchema): JsonSchema {
  const shownSchema: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties') shownSchema[key] = tidyMembers(value, schema.required);
    else shownSchema[key] = literals.has(key) ? value : deeper(value);
  }
  return shownSchema;
}

/** Their values are data, whatever members those have. */
const literals: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'const', 'enum', 'discriminator']);

function deeper(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deeper);
  return isSchema(value) ? withOptionalMembers(value) : value;
}

function tidyMembers(properties: unknown, requiredNames: unknown): unknown {
  if (!isSchema(properties)) return properties;
  const isRequired = (name: string) => Array.isArray(requiredNames) && requiredNames.includes(name);
  const members = Object.entries(properties).map(([name, member]) => {
    const whole = deeper(member);
    return [name, isSchema(whole) && !isRequired(name) ? withToldDefault(whole) : whole];
  });
  return Object.fromEntries(members);
}

function withToldDefault({ default: value, ...member }: JsonSchema): JsonSchema {
  if (value === undefined) return member;
  const description = typeof member.description === 'string' ? member.description : '';
  if (/\bthe default\b|\bdefault:/i.test(description)) return member;
  const defaultText = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`;
  return { ...member, description: description === '' ? defaultText : `${description} ${defaultText}` };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
