import type { CatalogEntry } from '../engine/models/catalog.ts';
import type { WireReply } from './ground/encoder.ts';
import { inSeconds } from './ground/envelopes.ts';
import { always, component, constant, integer, list, type Sent, text } from './ground/schema.ts';

/** Models and agents in the common format: what `model` of a completion may name. */

const entry = component('ModelCatalogEntry', 'Something that `model` of a completion may name.', {
  id: text('The id of a model or of an agent.'),
  object: constant('model').meta({
    description: 'Always `model`, also for agents: clients of the common format look for it.',
  }),
  created: integer('Seconds since 1970.'),
  owned_by: text('The provider of a model, the organization of an agent.'),
  name: text('For people.'),
});

function toEntry({ id, createdAtMs, owner, name }: CatalogEntry): Sent<typeof entry> {
  return { id, object: 'model', created: inSeconds(createdAtMs), owned_by: owner, name };
}

export const modelReply: WireReply = { schema: 'ModelCatalogEntry', encode: toEntry };

const catalog = component('ModelCatalog', 'Models and agents in the form of the common format.', {
  object: always('list'),
  data: list('Models first.', entry),
});

export const modelListReply: WireReply = {
  schema: 'ModelCatalog',
  encode: (entries: readonly CatalogEntry[]): Sent<typeof catalog> => ({ object: 'list', data: entries.map(toEntry) }),
};
