import { commonWord, type JudgedServer } from './judge.ts';
import type { Person } from './world.ts';

export interface ParleyPlace {
  readonly url: string;
  /** Of the person who pushes: may edit the agent. */
  readonly ownerKey: string;
  /** An agent that all of the people may use. */
  readonly agentId: string;
  keyOf(person: Person): string;
}

/** Parley, or a server with the same search API: makes a MIRRORED source at an agent, and looks at it in every way that names documents. */
export async function createParley(place: ParleyPlace, access: 'MIRRORED' | 'LENT' = 'MIRRORED'): Promise<JudgedServer> {
  const ask = createAsk(place.url);
  const asOwner = (method: string, path: string, body?: object) => ask(place.ownerKey, method, path, body);
  const source = await asOwner('POST', `/ais/${place.agentId}/data-sources/api`, {
    name: 'Leak test',
    data: {},
    access: 'MIRRORED',
  });
  const base = `/data-sources/${source.id}`;
  const toTitles = (rows: readonly { readonly name?: string; readonly title?: string }[]) =>
    rows.flatMap(({ name, title = name ?? '' }) => (title.startsWith('doc') ? [title] : []));
  return {
    async putGroups(groups) {
      await asOwner('PUT', `${base}/principals`, { groups });
    },
    async putDocuments(documents, removedIds) {
      const items = documents.map(({ id, text, acl, restrictions }) => ({
        ...{ uniqueId: id, name: id, text, acl },
        restrictions: restrictions.map((anyOf) => ({ anyOf })),
      }));
      await asOwner('PUT', `${base}/items`, { items, removedIds });
    },
    async settle() {
      for (;;) {
        const { indexStatus } = await asOwner('GET', base);
        if (indexStatus === 'INDEXED') break;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      // Ungated: what the judge must see, or it would see no leak either.
      if (access === 'LENT') await asOwner('PATCH', base, { access: 'LENT' });
      await asOwner('PATCH', base, { orgVisible: true });
    },
    ways: {
      async search(person) {
        const { data } = await ask(place.keyOf(person), 'POST', '/search', {
          ...{ agentId: place.agentId, dataSourceIds: [source.id], query: commonWord, limit: 50 },
        });
        return toTitles(data);
      },
      async 'list of items'(person) {
        if (!person.isMember) return openToOutsiders(ask, place, person, source.id, toTitles);
        const { data } = await ask(place.keyOf(person), 'GET', `${base}/knowledge?first=50`);
        return toTitles(data);
      },
    },
  };
}

/** Whoever is of another organization sees no list of its sources: the search by the name of a document is all that is left. */
async function openToOutsiders(
  ask: ReturnType<typeof createAsk>,
  { agentId, keyOf }: ParleyPlace,
  person: Person,
  dataSourceId: string,
  toTitles: (rows: readonly { readonly title?: string }[]) => readonly string[],
): Promise<readonly string[]> {
  const body = { agentId, dataSourceIds: [dataSourceId], query: 'names a sum and a day', limit: 50 };
  return toTitles((await ask(keyOf(person), 'POST', '/search', body)).data);
}

function createAsk(url: string) {
  // biome-ignore lint/suspicious/noExplicitAny: replies of a server that is judged.
  return async (key: string, method: string, path: string, body?: object): Promise<any> => {
    const reply = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 500)}`);
    return JSON.parse(text);
  };
}
