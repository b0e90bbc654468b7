import type { GraphQLEnumType, GraphQLEnumValue, GraphQLInputField, GraphQLInputObjectType } from 'graphql';
import type { DeclaredRoute } from '../route.ts';

/** How callers write the members of a route's body. */
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
  other: (name) => (snakeCase(name) === name ? undefined : snakeCase(name)),
  key: 'either',
};

/**
 * Members in snake_case, but for those the route keeps as they are: the contract adds `generateCitations` to a format of another hand.
 * Both spellings are taken.
 */
export function memberNames(row: Pick<DeclaredRoute, 'bodyCase' | 'camelMembers'>): MemberNames {
  if (row.bodyCase !== 'snake') return camelNames;
  const kept = new Set(row.camelMembers ?? []);
  return {
    wire: (name) => (kept.has(name) ? name : snakeCase(name)),
    other: (name) => {
      const other = kept.has(name) ? snakeCase(name) : name;
      return other === (kept.has(name) ? name : snakeCase(name)) ? undefined : other;
    },
    key: `snake ${[...kept].sort().join(' ')}`,
  };
}

/** The members of an input that REST reads: without those that only GraphQL has (`graphqlOnly`). */
export function restMembersOf(type: GraphQLInputObjectType): readonly GraphQLInputField[] {
  return Object.values(type.getFields()).filter(({ extensions }) => extensions.api !== 'graphql');
}

/** How callers write the values of an enum: by their names, or as the third-party format has them that they come from. */
export function enumTexts(type: GraphQLEnumType): ReadonlyMap<string, GraphQLEnumValue> {
  const isOfFormat = type.extensions.isOfFormat === true;
  return new Map(type.getValues().map((value) => [isOfFormat ? String(value.value) : value.name, value]));
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
