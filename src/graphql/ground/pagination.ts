import type { OutputRef } from '@pothos/core';
import { DomainError, outOfRange } from '../../entities/ground/errors.ts';
import { countEverything, type ListPage, type Page, type PageRequest, type SortKey } from '../../entities/ground/page.ts';
import { builder } from './builder/builder.ts';
import type { GraphContext } from './builder/context.ts';
import { createEnum, ofFormat } from './types/enums.ts';

/** Items of a page that is asked for without a size. */
export const pageSizeDefault = 20;

interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}
interface PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

const PageInfoType = builder.objectRef<PageInfo>('PageInfo').implement({
  access: { scope: null },
  description: 'The cursors of a page, and whether more items follow.',
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether items follow this page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', { description: 'Whether items come before this page.' }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description:
        'Cursor of the first item, for the next `before`; null on an empty page. A search that read enough before its page was full says here how far it came.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description:
        'Cursor of the last item, for the next `after`; null on an empty page. A search that read enough before its page was full says here how far it came.',
    }),
  }),
});

/**
 * Makes `<Name>Connection` and `<Name>Edge` for a list whose resolver returns a `Page` from its store. Use with `pageArgs`:
 *
 *     const AgentConnection = connectionOf(AgentType, 'Agent', 'Agents');
 *     builder.queryField('agents', (t) => t.field({ authScopes: { key: 'AGENTS:READ' },
 *       type: AgentConnection,
 *       description: 'Agents the caller may see, newest first.',
 *       args: { ...pageArgs(t.arg) },
 *       resolve: (_root, args, context) => listAgents(context.deps, context.caller, pageRequest(context, args)),
 *     }));
 *
 * @param items  how the descriptions call the items: `Agents`.
 *
 * `totalCount` costs a query of its own and runs only when it is selected. It stops at 10,000, so that the count of a long list stays cheap.
 */
export function makeConnection<T extends object>(node: OutputRef<T>, name: string, items: string) {
  const ConnectionType = makePages<T, Page<T>>({
    ...{ node, name, items, toShown: (item: T) => item },
    cursorOf: (page, item) => encodeCursor(page.keyOf(item)),
    placeOf: ({ hasNextPage, hasPreviousPage }) => ({ hasNextPage, hasPreviousPage }),
    boundsOf: ({ startKey, endKey }) => ({ start: startKey && encodeCursor(startKey), end: endKey && encodeCursor(endKey) }),
  });
  builder.objectFields(ConnectionType, (t) => ({
    totalCount: t.int({
      nullable: true,
      description:
        'How many items the whole list has; 10,000 when there are more. Costs a count; leave it out when it is not shown.',
      args: {
        exact: t.arg.boolean({ defaultValue: false, description: 'Counts on beyond 10,000, which may take long.' }),
      },
      resolve: async (page, { exact }) => (exact ? page.countAll(countEverything) : Math.min(await loadCount(page), countShown)),
    }),
    isTotalCountExact: t.boolean({
      description: 'Whether `totalCount` without `exact` is the number of items; false when there are more than 10,000.',
      resolve: async (page) => (await loadCount(page)) <= countShown,
    }),
  }));
  return ConnectionType;
}

/** The same for a list that nobody can count, such as one of another service. */
export function makeUncountedConnection<T extends object, P extends Omit<Page<T>, 'countAll'>>(
  node: OutputRef<T>,
  name: string,
  items: string,
) {
  return makePages<T, P>({
    ...{ node, name, items, toShown: (item: T) => item },
    cursorOf: (page, item) => encodeCursor(page.keyOf(item)),
    placeOf: ({ hasNextPage, hasPreviousPage }) => ({ hasNextPage, hasPreviousPage }),
  });
}

const countShown = 10_000;
const counts = new WeakMap<object, Promise<number>>();

/** How many items the list of a page has, at most one more than is shown. Both fields about the number share one count. */
function loadCount<T>(page: Page<T>): Promise<number> {
  const knownCount = counts.get(page);
  if (knownCount !== undefined) return knownCount;
  const count = page.countAll(countShown + 1);
  counts.set(page, count);
  return count;
}

/**
 * The same for a list that a third-party format reads too, whose resolver returns a `ListPage`: an item's id is its cursor, so that both APIs have
 * one resolver, and nothing counts the list. Use with `listArgs`.
 *
 * @param toShown  what the fields of the node read of an item.
 */
export function makeListConnection<T, N extends object>(
  node: OutputRef<N>,
  name: string,
  items: string,
  idOf: (item: T) => string,
  toShown: (item: T) => N,
) {
  return makePages<T, ListPage<T>>({
    ...{ node, name, items, toShown },
    cursorOf: (_page, item) => idOf(item),
    placeOf: ({ hasMore, from }) => ({
      hasNextPage: from === 'before' || hasMore,
      hasPreviousPage: from === 'before' ? hasMore : from === 'after',
    }),
  });
}

interface PagesOptions<T, P> {
  readonly node: OutputRef<object>;
  readonly name: string;
  readonly items: string;
  readonly toShown: (item: T) => object;
  readonly cursorOf: (page: P, item: T) => string;
  readonly placeOf: (page: P) => Pick<PageInfo, 'hasNextPage' | 'hasPreviousPage'>;
  /** Cursors of the places where reading ended, where those are not items of the page. */
  readonly boundsOf?: (page: P) => { readonly start: string | undefined; readonly end: string | undefined };
}

function makePages<T, P extends { readonly items: readonly T[] }>(options: PagesOptions<T, P>) {
  const { node, name, items, cursorOf, placeOf, boundsOf, toShown } = options;
  const EdgeType = builder.objectRef<Edge<T>>(`${name}Edge`).implement({
    description: `One of ${items.toLowerCase()} and its place in the list.`,
    fields: (t) => ({
      cursor: t.exposeString('cursor', {
        description: 'An opaque cursor: pass it as `after` to get the items after this one.',
      }),
      node: t.field({ type: node, description: 'The item.', resolve: (edge) => toShown(edge.node) }),
    }),
  });
  return builder.objectRef<P>(`${name}Connection`).implement({
    description: `${items}, one page at a time.`,
    fields: (t) => ({
      nodes: t.field({
        type: [node],
        description: 'The items of this page.',
        resolve: (page) => page.items.map(toShown),
      }),
      edges: t.field({
        type: [EdgeType],
        description: 'The items of this page with their cursors.',
        resolve: (page) => page.items.map((item) => ({ cursor: cursorOf(page, item), node: item })),
      }),
      pageInfo: t.field({
        type: PageInfoType,
        description: 'The cursors of this page, and whether more items follow.',
        resolve: (page) => {
          const [first] = page.items;
          const last = page.items.at(-1);
          const bounds = boundsOf?.(page);
          return {
            ...placeOf(page),
            startCursor: bounds?.start ?? (first === undefined ? null : cursorOf(page, first)),
            endCursor: bounds?.end ?? (last === undefined ? null : cursorOf(page, last)),
          };
        },
      }),
    }),
  });
}

export type ArgBuilder = Parameters<Parameters<typeof builder.queryField>[1]>[0]['arg'];

/** The arguments of every connection: `first` with `after`, or `last` with `before`. */
export function pageArgs(arg: ArgBuilder) {
  return {
    first: arg.int({
      required: false,
      description: `How many items to return from the start of the list, or behind \`after\`: from 1 to 100; ${pageSizeDefault} when neither \`first\` nor \`last\` is given. A page of long items may hold fewer: \`pageInfo\` tells whether more follow.`,
    }),
    after: arg.string({ required: false, description: 'A cursor of this list: items after it are returned.' }),
    last: arg.int({
      required: false,
      description:
        'How many items to return from the end of the list, or before `before`, from 1 to 100; in the order of the list.',
    }),
    before: arg.string({ required: false, description: 'A cursor of this list: items before it are returned.' }),
  };
}

/** The arguments of a list that is read forwards only. */
export function forwardArgs(arg: ArgBuilder) {
  const { first, after } = pageArgs(arg);
  return { first, after };
}

/** The values of `pageArgs`. */
export interface PageArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

const orders = { asc: 'The first item first.', desc: 'The last item first.' };
export const OrderType = createEnum('ItemOrder', 'The order of a list of items.', ['asc', 'desc'], orders, ofFormat);

/** The arguments of a connection by `listConnectionOf`. */
export function listArgs(arg: ArgBuilder, { first = pageSizeDefault, firstMax = 100 } = {}) {
  return {
    first: arg.int({
      required: false,
      defaultValue: first,
      description: `How many items to return, from 1 to ${firstMax.toLocaleString('en')}. Default ${first}. A page of long items may hold fewer.`,
    }),
    after: arg.string({ required: false, description: 'A cursor of this list: items after it are returned.' }),
    order: arg({ type: OrderType, required: false, description: 'By time; default DESC.' }),
  };
}

/** The type of each part of a sort key, so that a forged cursor cannot pass a value of another type to SQL. */
export type KeyShape = readonly ('time' | 'text' | 'number')[];

/**
 * Reads the arguments of a connection.
 *
 * @param shape  the sort key of the list; the default is `timeKey`'s.
 * @throws DomainError INVALID_VALUE naming the argument; MUTUALLY_EXCLUSIVE_PARAMETERS for arguments of both directions.
 */
export function pageRequest(context: GraphContext, args: PageArgs, shape: KeyShape = ['time', 'text']): PageRequest {
  const isGiven = (value: unknown) => value !== undefined && value !== null;
  const isBackward = isGiven(args.last) || isGiven(args.before);
  if (isBackward && (isGiven(args.first) || isGiven(args.after))) {
    const param = isGiven(args.last) ? 'last' : 'before';
    throw new DomainError('MUTUALLY_EXCLUSIVE_PARAMETERS', `${param} cannot be combined with first or after`, { param });
  }
  const max = context.deps.settings.LIST_MAX;
  const [name, size, place, cursor] = isBackward
    ? (['last', args.last, 'before', args.before] as const)
    : (['first', args.first, 'after', args.after] as const);
  const limit = size ?? Math.min(pageSizeDefault, max);
  if (limit < 1 || limit > max) throw outOfRange(name, 1, max);
  const after = cursor === undefined || cursor === null ? undefined : decodeCursor(cursor, shape, place);
  return { limit, after, isBackward };
}

/** The same for a list that its REST route answers whole: it has the term `whole`. @param most  items that the whole list may have. */
export function wholeRequest(context: GraphContext, args: PageArgs, most: number, shape?: KeyShape): PageRequest {
  return context.terms?.whole === true ? { limit: most, after: undefined } : pageRequest(context, args, shape);
}

/** A list that a route shows whole: nobody pages or counts it. */
export function wholePage<T>(items: readonly T[]): Page<T> {
  return { items, hasNextPage: false, hasPreviousPage: false, keyOf: () => [], countAll: async () => items.length };
}

/** Opaque to callers: base64url of the sort key. */
export function encodeCursor(key: SortKey): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** @throws DomainError INVALID_VALUE for anything that `encodeCursor` did not make for such a list. */
export function decodeCursor(cursor: string, shape: KeyShape, param: 'after' | 'before' = 'after'): SortKey {
  const key = parseKey(cursor);
  if (key === undefined || key.length !== shape.length || !shape.every((kind, index) => fits(kind, key[index]))) {
    throw new DomainError('INVALID_VALUE', `${param} is not a cursor of this list`, { param });
  }
  return key as SortKey;
}

function parseKey(cursor: string): readonly unknown[] | undefined {
  if (cursor.length > 2_000) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function fits(kind: KeyShape[number], value: unknown): boolean {
  if (kind === 'number') return typeof value === 'number' && Number.isFinite(value);
  if (typeof value !== 'string' || value.includes('\u0000')) return false;
  return kind === 'text' || (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) && !Number.isNaN(Date.parse(value)));
}
