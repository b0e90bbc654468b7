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
 * What is read may hang on more than the thing, such as the page of a connection. Things for which that is the same are read together:
 *
 *     const membersOfGroup = batched((ids: readonly string[], { deps }, page: PageRequest) => groupMemberPages(deps, ids, page));
 *     members: t.field({ …, resolve: ({ id }, args, context) => membersOfGroup(context, id, pageRequest(context, args)) }),
 *
 * @param load  returns a value for each thing, in the order of the things.
 */
export function batched<Thing, Value, Rest extends readonly unknown[] = []>(
  load: (things: readonly Thing[], context: GraphContext, ...rest: Rest) => Promise<readonly Value[]>,
): (context: GraphContext, thing: Thing, ...rest: Rest) => Promise<Value> {
  interface Wanted {
    readonly thing: Thing;
    readonly rest: Rest;
  }
  const loaderOf = createContextCache(
    (context: GraphContext) => new DataLoader<Wanted, Value>(loadAll(context), { cache: false }),
  );

  function loadAll(context: GraphContext) {
    return async (wantedItems: readonly Wanted[]): Promise<Value[]> => {
      const values = new Map<Wanted, Value>();
      for (const alike of Map.groupBy(wantedItems, ({ rest }) => JSON.stringify(rest)).values()) {
        const things = [...new Set(alike.map(({ thing }) => thing))];
        const foundValues = await load(things, context, ...(alike[0] as Wanted).rest);
        const byThing = new Map(things.map((thing, index) => [thing, foundValues[index] as Value]));
        for (const one of alike) values.set(one, byThing.get(one.thing) as Value);
      }
      return wantedItems.map((one) => values.get(one) as Value);
    };
  }

  return (context, thing, ...rest) => loaderOf(context).load({ thing, rest });
}
