import { GraphQLInputObjectType, type GraphQLNamedType, GraphQLScalarType, GraphQLSchema } from 'graphql';

/**
 * An input may have two forms. GraphQL's is `@oneOf` and has the names of the graph: `{fileSearch: {vectorStoreIds}}`. The flat form is what the
 * domain reads and what REST writes: `{type: 'file_search', vectorStoreIds}`. The types of flat forms are not in the schema: each stands in the
 * extensions of the type that it is the flat form of, and by its name in those of the schema (graphql/ground/builder/flat-inputs.ts).
 */
export interface FlatTypes {
  readonly flatTypes: ReadonlyMap<string, GraphQLInputObjectType>;
}

/** The flat form of an input type: itself, where it has one form only. */
export function flatType(type: GraphQLInputObjectType): GraphQLInputObjectType {
  const { flatType: flat } = type.extensions;
  return flat instanceof GraphQLInputObjectType ? flat : type;
}

/** The name by which OpenAPI shows a type, where it is not that of GraphQL. */
export function restName({ name, extensions }: Pick<GraphQLNamedType, 'name' | 'extensions'>): string {
  return typeof extensions.restName === 'string' ? extensions.restName : name;
}

/** The members of a body of REST that choose the form of the reply (`wire/ground/body.ts`), as a type: the schema has none of them. */
export function replyType(type: GraphQLInputObjectType): GraphQLInputObjectType | undefined {
  const { replyType: own } = flatType(type).extensions;
  return own instanceof GraphQLInputObjectType ? own : undefined;
}

/** The flat form with this name, as OpenAPI and the wire schemas name it. */
export function flatTypeNamed({ extensions }: GraphQLSchema, name: string): GraphQLInputObjectType | undefined {
  return (extensions as Partial<FlatTypes>).flatTypes?.get(name);
}

/** The type of variables that a schema of `withReadVariables` takes as they are. */
export const readVariable = 'ReadVariable';

/**
 * The same schema for a caller that reads the variables of its documents itself, into the flat form: documents may declare them as `ReadVariable`,
 * which `execute` takes as they are, and resolvers get inputs as they come.
 */
export function withReadVariables(schema: GraphQLSchema): GraphQLSchema {
  const { types, extensions, ...config } = schema.toConfig();
  const anything = new GraphQLScalarType({ name: readVariable, description: 'A value that was read by its own type already.' });
  return new GraphQLSchema({ ...config, types: [...types, anything], extensions: { ...extensions, takesFlatInputs: true } });
}

/** Whether arguments of root fields come in their flat form. */
export function takesFlatInputs({ extensions }: GraphQLSchema): boolean {
  return extensions.takesFlatInputs === true;
}
