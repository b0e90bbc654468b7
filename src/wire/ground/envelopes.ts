import type { z } from 'zod';
import type { WireObject } from '../../entities/conversations/runs/response.ts';
import type { ListPage } from '../../entities/ground/page.ts';
import type { WireReply } from './encoder.ts';
import { always, component, constant, flag, list, type Sent, text } from './schema.ts';

/** What the replies of several formats share: pages of a list, deletions, times. */

/** A page of a list: whoever reads on gives `last_id` as `after`. */
export function createListSchema<Item extends z.ZodType>(id: string, description: string, item: Item) {
  return component(id, description, {
    object: always('list'),
    data: list('What is on the page, in order.', item),
    first_id: text('Of the first one; null on an empty page.').nullable(),
    last_id: text('Of the last one; give it as `after`.').nullable(),
    has_more: flag('Whether there are more behind it.'),
  });
}

/** What an encoder reads of a page. */
export type PageOf<Thing> = Pick<ListPage<Thing>, 'items' | 'hasMore'>;
export type StoredItems = PageOf<WireObject>;

/** The encoder of such a page. */
export function listOfItems<Thing extends object, Shown extends object>(
  { items, hasMore }: PageOf<Thing>,
  showItem: (item: Thing) => Shown,
) {
  const data = items.map(showItem);
  return {
    object: 'list',
    data,
    first_id: findId(data[0]),
    last_id: findId(data.at(-1)),
    has_more: hasMore,
  } as const;
}

function findId(item: object | undefined): string | null {
  return item !== undefined && 'id' in item && typeof item.id === 'string' ? item.id : null;
}

/** The reply to a deletion, of the id of what was deleted. */
export function deletionReply<const Kind extends string>(schema: string, kind: Kind, description: string): WireReply {
  const deletionSchema = component(schema, description, {
    id: text('What it was called.'),
    object: always(kind),
    deleted: constant(true).meta({ description: 'Always true.' }),
  });
  return {
    schema,
    encode: (id: string): Sent<typeof deletionSchema> => ({ id, object: kind, deleted: true }) as Sent<typeof deletionSchema>,
  };
}

/** Seconds since 1970, as third-party formats write times. */
export function inSeconds(time: Date | number): number {
  return Math.floor(Number(time) / 1000);
}
