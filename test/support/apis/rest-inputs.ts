import {
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { enumTexts, listRestMembers } from '../../../src/http/input/names.ts';
import { flatType } from '../../../src/lib/flat-inputs.ts';
import { isObject } from '../../../src/lib/json/json.ts';

const objects = new Map<GraphQLInputObjectType, GraphQLInputType>();

/** The type of a value as REST writes it: flat forms, without members that only GraphQL has, enums by their texts. */
export function restInput(type: GraphQLInputType): GraphQLInputType {
  if (isNonNullType(type)) return new GraphQLNonNull(restInput(type.ofType) as never);
  if (isListType(type)) return new GraphQLList(restInput(type.ofType));
  if (isEnumType(type)) {
    const texts = enumTexts(type);
    return scalar(type.name, (value) => {
      if (typeof value !== 'string' || !texts.has(value)) throw new Error('not a value of this enum');
      return value;
    });
  }
  if (!isInputObjectType(type)) return type;
  const made = objects.get(type) ?? restObject(flatType(type));
  objects.set(type, made);
  return made;
}

function restObject(type: GraphQLInputObjectType): GraphQLInputType {
  const { asJson } = type.extensions;
  if (typeof asJson === 'function') {
    return scalar(type.name, (value) => {
      if (!isObject(value)) throw new Error('not an object');
      return asJson(value);
    });
  }
  return new GraphQLInputObjectType({
    name: type.name,
    isOneOf: type.isOneOf,
    fields: () =>
      Object.fromEntries(
        listRestMembers(type).map((field) => [field.name, { type: restInput(field.type), defaultValue: field.defaultValue }]),
      ),
  });
}

function scalar(name: string, parseValue: (value: unknown) => unknown): GraphQLScalarType {
  return new GraphQLScalarType({ name, parseValue });
}
