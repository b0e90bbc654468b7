import { kindOfId } from '../../../entities/ground/ids.ts';
import type { Change, ChangeBatch } from '../../../entities/operations/live.ts';
import type { GraphContext } from '../../ground/builder/context.ts';
import { loadNode } from '../../ground/builder/nodes.ts';

/** Things of a batch that are loaded together. */
const togetherMax = 50;
/** A thing is shown as it was loaded so long ago at most: a slow reader may lose its rights meanwhile. */
const goodMs = 1_000;

interface Loaded {
  readonly node: Promise<never>;
  readonly atMs: number;
}

/** By the batch: each change has a context of its own, and a statement for each would be too many. */
const loadedNodes = new WeakMap<ChangeBatch, Map<string, Loaded>>();

/** The thing that a change is about; null where it is gone or the caller may not see it. The next things of the batch are loaded with it. */
export function nodeOfChange({ kind, id, batch }: Change, context: GraphContext): Promise<never> | null {
  if (kind === 'deleted') return null;
  const nodesById = loadedNodes.get(batch) ?? new Map<string, Loaded>();
  loadedNodes.set(batch, nodesById);
  const loadedNode = nodesById.get(id);
  const atMs = performance.now();
  if (loadedNode !== undefined && atMs - loadedNode.atMs < goodMs) return loadedNode.node;
  const place = batch.ids.indexOf(id);
  for (const next of batch.ids.slice(place, place + togetherMax)) {
    const nextKind = kindOfId(next);
    const node = nextKind === undefined ? null : loadNode(context, nextKind, next);
    if (node === null) continue;
    // Whoever reads it is told of a failure.
    node.catch(() => undefined);
    nodesById.set(next, { node, atMs });
  }
  return nodesById.get(id)?.node ?? null;
}
