import { type GraphQLInputType, isEnumType, isInputObjectType, isListType, isNonNullType, isScalarType } from 'graphql';

/** What a value of an input type must be: `a string`, `one of RED, GREEN`. */
export function nounOfInput(type: GraphQLInputType, namesOf: (type: GraphQLInputType) => readonly string[] = enumNames): string {
  if (isNonNullType(type)) return nounOfInput(type.ofType, namesOf);
  if (isListType(type)) return 'an array';
  if (isInputObjectType(type)) return 'an object';
  if (isEnumType(type)) return `one of ${namesOf(type).join(', ')}`;
  if (isScalarType(type)) return scalarNouns[type.name] ?? `a ${type.name}`;
  return 'given';
}

function enumNames(type: GraphQLInputType): readonly string[] {
  return isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
}

const scalarNouns: Readonly<Record<string, string>> = {
  String: 'a string',
  ID: 'a string',
  Boolean: 'true or false',
  Int: 'an integer',
  Float: 'a number',
  JSON: 'any value',
};

/** The kind of a value that does not fit: `an array`, `a string`. */
export function nounOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number' && !Number.isInteger(value)) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
