import { complexityFromQuery } from '@pothos/plugin-complexity';
import { type DocumentNode, GraphQLError, type GraphQLSchema } from 'graphql';
import type { Settings } from '../../settings.ts';
import type { ComplexityContext } from '../ground/builder/complexity.ts';
import { documentFaults } from '../ground/errors/document-faults.ts';
import { isOfArgument } from '../ground/errors/present.ts';
import type { OperationCost } from './call.ts';
import { documentError } from './document-limits.ts';

export interface PricedOperation {
  /** The operation and its fragments. */
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  readonly variables: Record<string, unknown>;
}

/**
 * Pothos calls the number of fields, fragments unfolded, the breadth.
 *
 * @param onCost  told the cost before it is refused.
 * @throws GraphQLError for too many fields, and for too high a cost.
 */
export function requireCheap(
  settings: Pick<Settings, 'GRAPHQL_FIELDS_MAX' | 'GRAPHQL_COST_MAX' | 'LIST_MAX'>,
  { document, schema, variables }: PricedOperation,
  onCost?: (cost: OperationCost) => void,
): number {
  const { GRAPHQL_FIELDS_MAX: fieldsMax, GRAPHQL_COST_MAX: costMax, LIST_MAX: listMax } = settings;
  const ctx: ComplexityContext = { listMax };
  const { complexity, breadth } = computeCost(document, { schema, variables, ctx });
  const cost = Math.ceil(complexity);
  onCost?.({ asked: cost, allowed: costMax });
  if (breadth > fieldsMax) {
    const message = `The operation unfolds to ${breadth} fields; at most ${fieldsMax} are allowed. Spread fewer fragments`;
    throw documentError('GRAPHQL_TOO_MANY_FIELDS', message);
  }
  if (cost <= costMax) return cost;
  const message = `The operation may make a reply of cost ${cost}; at most ${costMax} is allowed. Ask for shorter lists, or for fewer fields`;
  throw documentError('GRAPHQL_TOO_COSTLY', message);
}

type CostOptions = Parameters<typeof complexityFromQuery>[1];

/** @throws GraphQLError when an argument has no value: Pothos is the first to read them. */
function computeCost(operation: DocumentNode, options: CostOptions): ReturnType<typeof complexityFromQuery> {
  try {
    return complexityFromQuery(operation, options);
  } catch (error) {
    if (error instanceof GraphQLError && isOfArgument(error)) noteArguments([error], options.schema, operation);
    throw error;
  }
}

/** Notes in errors about arguments where the document has the argument. */
export function noteArguments(errors: readonly GraphQLError[], schema: GraphQLSchema, document: DocumentNode): void {
  for (const [index, faults] of documentFaults(schema, document, errors).entries()) {
    const [fault] = faults;
    Object.assign(errors[index]?.extensions ?? {}, { code: fault?.code ?? 'INVALID_VALUE', faults });
  }
}
