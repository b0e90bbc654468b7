import { GRAPHQL_MAX_INT, GRAPHQL_MIN_INT, GraphQLInt, type GraphQLSchema, isScalarType, Kind } from 'graphql';

const { parseValue, parseLiteral } = GraphQLInt;

/**
 * A given number beyond 32 bits becomes the nearest within, as on REST: every member has bounds of its own there, which the refusal then tells
 * instead of those of 32 bits. The builder takes no other type of this name, so its readers are replaced.
 */
export function readLargeNumbers(schema: GraphQLSchema): void {
  const int = schema.getType('Int');
  if (!isScalarType(int)) return;
  int.parseValue = (value) => parseValue(Number.isInteger(value) ? nearest(Number(value)) : value);
  int.parseLiteral = (node, variables) =>
    parseLiteral(node.kind === Kind.INT ? { ...node, value: String(nearest(Number(node.value))) } : node, variables);
}

function nearest(value: number): number {
  return Math.min(Math.max(value, GRAPHQL_MIN_INT), GRAPHQL_MAX_INT);
}
