import type { FieldComplexityValue } from '@pothos/plugin-complexity';
import { type GraphQLOutputType, getNamedType, getNullableType, isEnumType, isLeafType, isListType } from 'graphql';

/** Items that a list without pages is taken to have: such lists are bounded by their one parent. */
const boundedListSize = 10;
/** Items of a page that is asked for without `first` and `last`. */
const pageSizeDefault = 20;
/** Cost of a leaf; an object costs 1. A text may be long, a number, a time or a name of an enum is not. */
const textCost = 0.2;
const leafCost = 0.05;
/** Scalars whose values are short whatever a user stores. */
const shortScalars: ReadonlySet<string> = new Set(['ID', 'Int', 'Float', 'Boolean', 'DateTime', 'Count']);

export interface ComplexityContext {
  /** LIST_MAX. */
  readonly listMax: number;
}

/** What one field may add to the cost of an operation, for Pothos' complexity: the values that it makes, at the cost of each. */
export function fieldComplexity(
  args: Readonly<Record<string, unknown>>,
  { listMax }: ComplexityContext,
  { name, type, args: definitions }: { name: string; type: GraphQLOutputType; args: readonly { readonly name: string }[] },
): FieldComplexityValue {
  const isPage = definitions.some((argument) => argument.name === 'first');
  const multiplier = isPage ? pageSize(args, listMax) : isListType(getNullableType(type)) ? listSize(name, args) : 1;
  return { field: multiplier * ownCost(type), multiplier };
}

/** A size outside the range, or two of them, are refused by the resolver; here they must only not make the operation look cheap. */
function pageSize({ first, last }: Readonly<Record<string, unknown>>, listMax: number): number {
  const sizes = [first, last]
    .filter((size) => typeof size === 'number')
    .map((size) => (size >= 1 && size <= listMax ? size : listMax));
  return sizes.length === 0 ? pageSizeDefault : Math.max(...sizes);
}

/** A list of things that the request names has as many. */
function listSize(name: string, { ids }: Readonly<Record<string, unknown>>): number {
  if (Array.isArray(ids)) return Math.max(1, ids.length);
  return listsOfPages.has(name) ? 1 : boundedListSize;
}

/** Lists of a connection: its page has counted their items. */
const listsOfPages: ReadonlySet<string> = new Set(['nodes', 'edges']);

function ownCost(type: GraphQLOutputType): number {
  const named = getNamedType(type);
  if (!isLeafType(named)) return 1;
  return isEnumType(named) || shortScalars.has(named.name) ? leafCost : textCost;
}
