import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** The text of schema.graphql: sorted, so that it changes only where the schema does. */
export function printedSchema(schema: GraphQLSchema): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
