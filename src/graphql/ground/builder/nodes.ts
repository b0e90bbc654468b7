import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import { operationScopes } from '../../../domain/ground/access/operation-scopes.ts';
import { type IdKind, kindOfId } from '../../../entities/ground/ids.ts';
import type { GraphContext } from './context.ts';

export interface Thing {
  readonly id: string;
}

/** How the things of one kind are found. */
export interface NodeLoader {
  /** The GraphQL type, where things of several kinds of ids or several types of things share it. */
  readonly typeName: string | ((thing: Thing) => string);
  /** The root field that reads such a thing: `node` needs the same scope. */
  readonly operation: `Query.${string}`;
  /** Another root field that shows such things, to keys of another scope: either scope will do. */
  readonly otherOperation?: `Query.${string}`;
  /** Reads things in any order, by the rule of a direct look-up: what is missing or not the caller's to see is left out. */
  loadMany(ids: readonly string[], context: GraphContext): Promise<readonly Thing[]>;
}
const loaders = new Map<IdKind, NodeLoader>();

/**
 * Lets `node(id)`, `nodes(ids)` and the edges of other types find the things of one kind. Called once, next to the type:
 *
 *     registerNode('agent', {
 *       typeName: 'Agent',
 *       operation: 'Query.agent',
 *       loadMany: (ids, { deps, caller }) => getAgents(deps, caller, ids),
 *     });
 *
 * The type names the interface: `interfaces: [NodeType]`.
 */
export function registerNode(kind: IdKind, loader: NodeLoader): void {
  loaders.set(kind, loader);
}

/** The loader of the things that an id names; undefined for an id that is none, and for one of a kind that no type has. */
export function findNodeLoader(id: string): (NodeLoader & { readonly kind: IdKind }) | undefined {
  const kind = kindOfId(id);
  const loader = kind === undefined ? undefined : loaders.get(kind);
  return kind === undefined || loader === undefined ? undefined : { ...loader, kind };
}

/** One data loader a request and kind: the edges of a list cost one statement. */
const dataLoaders = createContextCache((_context: GraphContext) => new Map<IdKind, DataLoader<string, Thing | null>>());

/**
 * Follows an edge: the thing that a member names by its id. Null for no id, for a thing that is gone, and for one that the caller may not see.
 *
 *     agent: t.field({
 *       type: AgentRef,
 *       nullable: true,
 *       description: 'The agent that answers; null when it is gone or the caller may not see it.',
 *       resolve: ({ agentId }, _args, context) => nodeOf(context, 'agent', agentId),
 *     }),
 *
 * @returns `never`, which fits the type of any field: the loader of the kind gives what the type shows.
 */
export function loadNode(context: GraphContext, kind: IdKind, id: string | null | undefined): Promise<never> | null {
  if (id === null || id === undefined || kindOfId(id) !== kind) return null;
  return findDataLoader(context, kind).load(id) as Promise<never>;
}

/** Follows an edge to several things, in the order of their ids: without those that `nodeOf` has null for. Null for no ids. */
export function loadNodes(context: GraphContext, kind: IdKind, ids: readonly string[]): Promise<never[]>;
export function loadNodes(
  context: GraphContext,
  kind: IdKind,
  ids: readonly string[] | null | undefined,
): Promise<never[] | null>;
export async function loadNodes(
  context: GraphContext,
  kind: IdKind,
  ids: readonly string[] | null | undefined,
): Promise<never[] | null> {
  const foundNodes = ids === null || ids === undefined ? null : await Promise.all(ids.map((id) => loadNode(context, kind, id)));
  return foundNodes?.filter((thing) => thing !== null) ?? null;
}

/** The thing of any kind that an id names: null also where the key lacks the scope that reads such things. */
export function seenNode(context: GraphContext, id: string): Promise<never> | null {
  const loader = findNodeLoader(id);
  return loader !== undefined && mayLoad(context, loader) ? loadNode(context, loader.kind, id) : null;
}

/** Whether the key has a scope that reads things of a kind. */
export function mayLoad({ caller }: GraphContext, { operation, otherOperation = operation }: NodeLoader): boolean {
  return [operation, otherOperation].some((name) => {
    const scope = operationScopes[name] ?? null;
    return scope === null || caller.scopes.has(scope);
  });
}

/** Follows an edge to a thing of any kind: null also for an id of a kind that no type has. */
export function nodeById(context: GraphContext, id: string | null | undefined): Promise<never> | null {
  const loader = id === null || id === undefined ? undefined : findNodeLoader(id);
  return loader === undefined ? null : loadNode(context, loader.kind, id);
}

/** Lets edges find a thing that was read already under the rule of a direct look-up. */
export function keepNode(context: GraphContext, kind: IdKind, thing: Thing): void {
  findDataLoader(context, kind).prime(thing.id, thing);
}

/** Lets the fields of a mutation read what it changed, though fields of another mutation in the document have read it before. */
export function forgetNodes(context: GraphContext): void {
  dataLoaders.delete(context);
}

function findDataLoader(context: GraphContext, kind: IdKind): DataLoader<string, Thing | null> {
  const ofRequest = dataLoaders(context);
  const knownLoader = ofRequest.get(kind);
  if (knownLoader !== undefined) return knownLoader;
  const loader = loaders.get(kind);
  if (loader === undefined) throw new Error(`no type is registered for ids of the kind ${kind}`);
  const madeLoader = new DataLoader<string, Thing | null>(async (ids) => {
    const thingsById = new Map((await loader.loadMany(ids, context)).map((thing) => [thing.id, thing]));
    return ids.map((id) => thingsById.get(id) ?? null);
  });
  ofRequest.set(kind, madeLoader);
  return madeLoader;
}
