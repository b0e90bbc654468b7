import { envelop, useEngine, useSchema } from '@envelop/core';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  specifiedRules,
  typeFromAST,
  validate,
} from 'graphql';
import type { Settings } from '../../../settings.ts';
import { requireCheap } from '../cost.ts';
import { documentLimits } from '../document-limits.ts';

/** A document that may be saved: one query or mutation, and its fragments. */
export interface CheckedDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

type CheckSettings = Pick<
  Settings,
  'GRAPHQL_DEPTH_MAX' | 'GRAPHQL_ALIASES_MAX' | 'GRAPHQL_TOKENS_MAX' | 'GRAPHQL_FIELDS_MAX' | 'GRAPHQL_COST_MAX' | 'LIST_MAX'
>;

/**
 * Reads a document as a request with it would be read: within the same limits, and against the schema.
 *
 * @returns the document, or what is wrong with it: words that follow a name of it.
 */
export function checkDocument(schema: GraphQLSchema, settings: Settings & CheckSettings, text: string): CheckedDocument | string {
  const read = envelop({
    plugins: [
      useEngine({ parse, validate, specifiedRules }),
      useSchema(schema),
      ...(documentLimits(settings) as unknown as Parameters<typeof envelop>[0]['plugins']),
    ],
  })();
  try {
    const document: DocumentNode = read.parse(text);
    const [first] = read.validate(schema, document) as readonly GraphQLError[];
    if (first !== undefined) return `does not fit the schema: ${first.message}`;
    const [operation, other] = document.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
    if (operation === undefined || other !== undefined) return 'must have exactly one operation';
    if (operation.operation === OperationTypeNode.SUBSCRIPTION)
      return 'must be a query or a mutation: a subscription has more than one result';
    const types = (operation.variableDefinitions ?? []).map(({ type }) => typeFromAST(schema, type));
    if (types.some((type) => String(getNamedType(type)) === 'File'))
      return 'must have no variable of type File: a file is no value of JSON';
    requireCheap(settings, { document, schema, variables: exampleVariables(schema, operation) });
    return { document, operation };
  } catch (error) {
    if (error instanceof GraphQLError) return `is refused: ${error.message}`;
    throw error;
  }
}

/** A value for each variable that must be given, as small as may be. */
function exampleVariables(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): Record<string, unknown> {
  const required = variableDefinitions.filter(
    ({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && defaultValue === undefined,
  );
  return Object.fromEntries(
    required.map(({ variable, type }) => [variable.name.value, exampleOf(typeFromAST(schema, type) as GraphQLInputType)]),
  );
}

function exampleOf(type: GraphQLInputType): unknown {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [exampleOf(nullable.ofType)];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name;
  if (!isInputObjectType(nullable)) return scalarExamples[nullable.name] ?? 'x';
  const fields = Object.values(nullable.getFields());
  const given = nullable.isOneOf
    ? fields.slice(0, 1)
    : fields.filter((field) => isNonNullType(field.type) && field.defaultValue === undefined);
  return Object.fromEntries(given.map((field) => [field.name, exampleOf(field.type)]));
}

const scalarExamples: Readonly<Record<string, unknown>> = {
  ...{ Int: 1, Float: 1, Boolean: true, Count: 1, DateTime: '2026-01-01T00:00:00Z', Vector: [0], JSON: {}, JsonSchema: {} },
};
