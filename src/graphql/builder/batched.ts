import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { GraphContext } from './context.ts';

/**
 * Makes a function for resolvers that reads for one thing what `load` reads for many: the things of a list cost one call. Nothing is kept, so that
 * the fields of a mutation show what it changed.
 *
 *     const feedbackOfMessage = batched((ids: readonly string[], { deps }) => feedbackOf(deps, ids));
 *     feedback: t.field({ …, resolve: ({ id }, _args, context) => feedbackOfMessage(context, id) }),
 *
 * @param load  returns a value for each thing, in the order of the things.
 */
export function batched<Thing, Value>(
  load: (things: readonly Thing[], context: GraphContext) => Promise<readonly Value[]>,
): (context: GraphContext, thing: Thing) => Promise<Value> {
  const loaderOf = createContextCache(
    (context: GraphContext) =>
      new DataLoader<Thing, Value>(
        async (things) => {
          const unique = [...new Set(things)];
          const values = await load(unique, context);
          const found = new Map(unique.map((thing, index) => [thing, values[index] as Value]));
          return things.map((thing) => found.get(thing) as Value);
        },
        { cache: false },
      ),
  );
  return (context, thing) => loaderOf(context).load(thing);
}
