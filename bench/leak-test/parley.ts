import { commonWord, type JudgedServer } from './judge.ts';
import { type Ask, answers, closedWays, records, SeenDocuments, waysById } from './ways.ts';
import type { Person } from './world.ts';

/** Of the source and the agent that the judge makes. */
const ownName = 'Leak test';

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
  const ask = createAsk(place);
  const askApi: Ask = (key, method, path, body) => ask(key, method, `/api/v1${path}`, body);
  const asOwner = (method: string, path: string, body?: object) => askApi(place.ownerKey, method, path, body);
  const seen = new SeenDocuments();
  await removeOwn(asOwner, place.agentId);
  const asking = await asOwner('POST', '/ais', {
    ...{
      name: ownName,
      description: 'Asks another agent.',
      instructions: 'Ask the other agent.',
      src: 'https://example.com/agent.png',
    },
    ...{ visibility: 'ANYONE_WITH_LINK', enabledTools: [{ type: 'subagent', agents: [place.agentId] }] },
  });
  const source = await asOwner('POST', `/ais/${place.agentId}/data-sources/api`, {
    name: ownName,
    data: {},
    access: 'MIRRORED',
  });
  const judged = {
    ...{
      agentId: place.agentId,
      askingAgentId: asking.id,
      dataSourceId: source.id,
      keyOf: (person: Person) => place.keyOf(person),
    },
    get url() {
      return place.url;
    },
  };
  const { 'passages of a document by its id': passages, ...byId } = waysById(ask, judged, seen);
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
        const { data } = await askApi(place.keyOf(person), 'POST', '/search', {
          ...{ agentId: place.agentId, dataSourceIds: [source.id], query: commonWord, limit: 50 },
        });
        return toTitles(data);
      },
      async 'list of items'(person) {
        if (!person.isMember) return openToOutsiders(askApi, place, person, source.id, toTitles);
        const { data } = await askApi(place.keyOf(person), 'GET', `${base}/knowledge?first=50`);
        seen.note(data);
        return toTitles(data);
      },
      async 'passages of a document by its id'(person) {
        // Whoever is of another organization has no ids of its documents, and may open none by them.
        const outsiders = person.isMember ? [] : await openToOutsiders(askApi, place, person, source.id, toTitles);
        return [...(await passages(person)), ...outsiders];
      },
    },
    partialWays: { ...byId, ...answers(ask, judged, seen), ...records(ask, judged) },
    closedWays: closedWays(ask, judged, seen),
  };
}

/** Whoever is of another organization sees no list of its sources: the search by the name of a document is all that is left. */
async function openToOutsiders(
  ask: Ask,
  { agentId, keyOf }: ParleyPlace,
  person: Person,
  dataSourceId: string,
  toTitles: (rows: readonly { readonly title?: string }[]) => readonly string[],
): Promise<readonly string[]> {
  const body = { agentId, dataSourceIds: [dataSourceId], query: 'names a sum and a day', limit: 50 };
  return toTitles((await ask(keyOf(person), 'POST', '/search', body)).data);
}

/** What an earlier judge left: its documents have the same names, and answers would show them. */
async function removeOwn(asOwner: (method: string, path: string) => ReturnType<Ask>, agentId: string): Promise<void> {
  for (const { id, name } of (await asOwner('GET', `/ais/${agentId}/data-sources`)).data)
    if (name === ownName) await asOwner('DELETE', `/data-sources/${id}`);
  for (const { id, name } of (await asOwner('GET', `/ais?search=${encodeURIComponent(ownName)}`)).data)
    if (name === ownName) await asOwner('DELETE', `/ais/${id}`);
}

/** @param place  its address is read anew for each request: a server that was started again may have another. */
function createAsk(place: Pick<ParleyPlace, 'url'>): Ask {
  return async (key, method, path, body) => {
    const reply = await fetch(`${place.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        // Clients of MCP take both.
        accept: path.startsWith('/mcp') ? 'application/json, text/event-stream' : 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 500)}`);
    return JSON.parse(text.startsWith('event:') ? text.slice(text.indexOf('data:') + 5, text.lastIndexOf('}') + 1) : text);
  };
}
