import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphContext } from './context.ts';

type Loader = DataLoader<string, unknown>;
const loaders = createContextCache((_context: GraphContext) => new Map<string, Loader>());

/**
 * What belongs to one of several things of a reply, where it hangs on arguments: a page of the members of each group, what each agent used in a period.
 * It is read for all of them at once.
 *
 * @param what  names it, with the values of its arguments. Fields with equal ones share a statement.
 * @param load  reads it for several things, by the id of each.
 * @returns null for a thing of which `load` says nothing.
 */
export function inBatch<T>(
  context: GraphContext,
  what: readonly unknown[],
  id: string,
  load: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>,
): Promise<T | null> {
  const ofRequest = loaders(context);
  const key = JSON.stringify(what);
  let loader = ofRequest.get(key);
  if (loader === undefined) {
    loader = new DataLoader(async (ids) => {
      const found = await load(ids);
      return ids.map((one) => found.get(one) ?? null);
    });
    ofRequest.set(key, loader);
  }
  return loader.load(id) as Promise<T | null>;
}
