import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphContext } from './context.ts';

/**
 * Like `batched`, for what several fields of a thing read: each thing is read once in a request. Another object of the same id is another thing, so
 * that a mutation shows what it changed.
 *
 *     const stepsOf = loaded((runs: readonly Run[], { deps, caller }) => listRunSteps(deps, caller, runs));
 *
 * @param load  returns a value for each thing, in the order of the things.
 */
export function loaded<Thing extends object, Value>(
  load: (things: readonly Thing[], context: GraphContext) => Promise<readonly Value[]>,
): (context: GraphContext, thing: Thing) => Promise<Value> {
  const loaderOf = createContextCache((context: GraphContext) => new DataLoader<Thing, Value>((things) => load(things, context)));
  return (context, thing) => loaderOf(context).load(thing);
}
