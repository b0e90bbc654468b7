import type { GraphQLEnumType, GraphQLEnumValue, GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import { flatType } from '../../lib/flat-inputs.ts';
import { toSnakeCase } from '../../lib/text/text.ts';

/** How callers write the members of a JSON value. */
export interface MemberNames {
  /** The name that is documented and shown in errors. */
  wire(name: string): string;
  /** Another spelling that is taken too. */
  other(name: string): string | undefined;
  /** Two routes with the same key write all members alike. */
  readonly key: string;
}

/** Everything as GraphQL has it. */
export const camelNames: MemberNames = { wire: (name) => name, other: () => undefined, key: 'camel' };

/** As GraphQL has it, and in snake_case too. */
export const eitherNames: MemberNames = {
  wire: (name) => name,
  other: (name) => (toSnakeCase(name) === name ? undefined : toSnakeCase(name)),
  key: 'either',
};

/** The members of an input that REST reads: those of its flat form. */
export function listRestMembers(type: GraphQLInputObjectType): readonly GraphQLInputField[] {
  return Object.values(flatType(type).getFields());
}

/** How callers write the values of an enum: by their names, or as the third-party format has them that they come from. */
export function enumTexts(type: GraphQLEnumType): ReadonlyMap<string, GraphQLEnumValue> {
  const isOfFormat = type.extensions.isOfFormat === true;
  return new Map(type.getValues().map((value) => [isOfFormat ? String(value.value) : value.name, value]));
}

export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}
