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

/** Cost of a root field, which asks the database, besides what it makes. Pages below it are read for all things of a list at once, and have no price. */
const askingCost = 40;
/** Fields that ask more than once; a statement is one part of a turn, so their cost is that of as many. */
const statementsOf: ReadonlyMap<string, number> = new Map([
  ['Query.agentBundle', 8],
  ['Query.chatExport', 5],
  ['Query.chatTree', 5],
  ['Query.search', 4],
]);
const rootTypes: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

/** Things that are named by their ids are read by kind, at most ten of which are read by one statement. */
const idsPerStatement = 10;

/** The statements that a field asks for, as far as its definition tells: an extension that the plugin `operations` adds to it. */
export function statementsOfField(parentType: string, name: string): number {
  return statementsOf.get(`${parentType}.${name}`) ?? (rootTypes.has(parentType) ? 1 : 0);
}

/** What one field may add to the cost of an operation, for Pothos' complexity: the values that it makes, at the cost of each. */
export function fieldComplexity(
  args: Readonly<Record<string, unknown>>,
  { listMax }: ComplexityContext,
  { name, type, args: definitions, extensions }: PricedField,
): FieldComplexityValue {
  const isPage = definitions.some((argument) => argument.name === 'first');
  const multiplier = isPage ? pageSize(args, listMax) : isListType(getNullableType(type)) ? listSize(name, args) : 1;
  const statements = (extensions.statements ?? 0) * Math.ceil(idCount(args) / idsPerStatement);
  return { field: multiplier * ownCost(type) + statements * askingCost, multiplier };
}

interface PricedField {
  readonly name: string;
  readonly type: GraphQLOutputType;
  readonly args: readonly { readonly name: string }[];
  readonly extensions: { readonly statements?: number };
}

function idCount({ ids }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(ids) ? Math.max(1, ids.length) : 1;
}

/** A size outside the range, or two of them, are refused by the resolver; here they must only not make the operation look cheap. */
function pageSize({ first, last }: Readonly<Record<string, unknown>>, listMax: number): number {
  const sizes = [first, last]
    .filter((size) => typeof size === 'number')
    .map((size) => (size >= 1 && size <= listMax ? size : listMax));
  return sizes.length === 0 ? pageSizeDefault : Math.max(...sizes);
}

/** A list of things that the request names has as many. */
function listSize(name: string, args: Readonly<Record<string, unknown>>): number {
  if (Array.isArray(args.ids)) return idCount(args);
  return listsOfPages.has(name) ? 1 : boundedListSize;
}

/** Lists of a connection: its page has counted their items. */
const listsOfPages: ReadonlySet<string> = new Set(['nodes', 'edges']);

function ownCost(type: GraphQLOutputType): number {
  const itemType = getNamedType(type);
  if (!isLeafType(itemType)) return 1;
  return isEnumType(itemType) || shortScalars.has(itemType.name) ? leafCost : textCost;
}
