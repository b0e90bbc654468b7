import type { OutputRef } from '@pothos/core';
import { builder } from '../builder/builder.ts';
import type { TypeAccess } from '../builder/type-access.ts';
import type { ArgBuilder } from '../pagination.ts';
import { OrderType } from '../responses/order.ts';

/** A page of a list as the common format has it: whoever reads on gives the id of the last one as `after`. */
export interface CommonList<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** Makes `<name>`: `{object: "list", data, firstId, lastId, hasMore}`. */
export function commonListOf<Item>(
  name: string,
  type: OutputRef<Item> | 'JSON',
  {
    description,
    access,
    idOf,
  }: { readonly description: string; readonly access: TypeAccess; readonly idOf: (item: Item) => string },
) {
  return builder.objectRef<CommonList<Item>>(name).implement({
    access,
    description,
    fields: (t) => ({
      object: t.string({ description: 'Always `list`.', resolve: () => 'list' }),
      data: t.field({
        type: [type as OutputRef<Item>],
        description: 'What is on the page, in order.',
        resolve: ({ items }) => [...items] as never,
      }),
      firstId: t.string({
        nullable: true,
        description: 'Of the first one; null on an empty page.',
        resolve: ({ items: [first] }) => (first === undefined ? null : idOf(first)),
      }),
      lastId: t.string({
        nullable: true,
        description: 'Of the last one; give it as `after`.',
        resolve: ({ items }) => {
          const last = items.at(-1);
          return last === undefined ? null : idOf(last);
        },
      }),
      hasMore: t.exposeBoolean('hasMore', { description: 'Whether there are more behind it.' }),
    }),
  });
}

/** The arguments of such a list. `thing`: what is listed; `since`: the time that orders it, in words. */
export function commonPageArgs(arg: ArgBuilder, thing: string, since: string) {
  return {
    after: arg.string({ required: false, description: `The id of the ${thing} before the page.` }),
    before: arg.string({ required: false, description: `The id of the ${thing} behind the page.` }),
    limit: arg.int({ required: false, description: 'From 1 to 100; default 20.' }),
    order: arg({ type: OrderType, required: false, description: `By the time they were ${since}; default desc.` }),
  };
}

/** Makes `<name>`: `{id, object, deleted: true}` of a thing by its id. */
export function deletionOf(name: string, object: string, access: TypeAccess, description: string) {
  return builder.objectRef<string>(name).implement({
    access,
    description,
    fields: (t) => ({
      id: t.id({ description: 'What it was called.', resolve: (id) => id }),
      object: t.string({ description: `Always \`${object}\`.`, resolve: () => object }),
      deleted: t.boolean({ description: 'Always true.', resolve: () => true }),
    }),
  });
}
