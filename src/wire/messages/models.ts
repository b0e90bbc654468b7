import type { CatalogEntry } from '../../engine/models/catalog.ts';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import { always, component, flag, list, type Sent, text } from '../ground/schema.ts';

/** Models and agents in the Messages format. */

const modelInfo = component('MessagesModel', 'A model, or an agent.', {
  type: always('model'),
  id: text('What `model` of a request may name.'),
  display_name: text('For people.'),
  created_at: text('When it was made, RFC 3339.'),
});
const modelPage = component('MessagesModelPage', 'A page of models and agents.', {
  data: list('Models first.', modelInfo),
  first_id: text('Of the first one; null on an empty page.').nullable(),
  last_id: text('Of the last one; null on an empty page.').nullable(),
  has_more: flag('Whether there are more in the direction of the page.'),
});

const limitMax = 1_000;

export function toModelInfo({ id, name, createdAtMs }: CatalogEntry): Sent<typeof modelInfo> {
  return { type: 'model', id, display_name: name, created_at: new Date(createdAtMs).toISOString() };
}

/** A page of a list. @param query  `limit`, and `after_id` or `before_id`. */
export function toModelPage(
  entries: readonly CatalogEntry[],
  query: URLSearchParams,
  faults: FaultNotes,
): Sent<typeof modelPage> {
  const limit = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    faults.add('limit', `limit must be an integer from 1 to ${limitMax}`, 'INVALID_VALUE', { minimum: 1, maximum: limitMax });
  }
  const before = query.get('before_id');
  const after = query.get('after_id');
  if (before !== null && after !== null)
    faults.add('before_id', 'before_id must not stand beside after_id', 'MUTUALLY_EXCLUSIVE_PARAMETERS');
  const placeOf = (name: string, id: string) => {
    const place = entries.findIndex((entry) => entry.id === id);
    if (place < 0) faults.add(name, `${name} names no model that is there`);
    return place;
  };
  const end = before === null ? entries.length : placeOf('before_id', before);
  const start = after === null ? Math.max(0, before === null ? 0 : end - limit) : placeOf('after_id', after) + 1;
  const page = entries.slice(start, before === null ? start + limit : end);
  return {
    data: page.map(toModelInfo),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: before === null ? start + limit < entries.length : start > 0,
  };
}
