import { GraphQLError, type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql';

/** A scalar that refuses a value written in a document does not say where: its errors get the place of the value. */
export function placeScalarErrors(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isScalarType(type) || isSpecifiedScalarType(type)) continue;
    const { parseLiteral } = type;
    type.parseLiteral = (node, variables) => {
      try {
        return parseLiteral(node, variables);
      } catch (error) {
        if (!(error instanceof GraphQLError) || error.nodes !== undefined) throw error;
        throw new GraphQLError(error.message, { nodes: node, originalError: error });
      }
    };
  }
}
