import { commonWord } from './judge.ts';
import type { Person } from './world.ts';

const question = `What does the ${commonWord} name, a sum and a day?`;

/** Asks a path of the server with a key. @throws Error for a reply that is an error. */
// biome-ignore lint/suspicious/noExplicitAny: replies of a server that is judged.
export type Ask = (key: string, method: string, path: string, body?: object) => Promise<any>;

interface Place {
  readonly url: string;
  readonly agentId: string;
  /** Has the agent as a subagent. */
  readonly askingAgentId: string;
  readonly dataSourceId: string;
  keyOf(person: Person): string;
}

/** The names of documents in a reply, wherever they stand as a word: an id may hold such letters. */
export function namesIn(reply: unknown): readonly string[] {
  const text = (JSON.stringify(reply) ?? '').replaceAll(String.raw`\n`, ' ');
  return [...new Set(text.match(/\bdoc\d\d\b/g) ?? [])];
}

/** What lists say of documents, for the ways that need more than a name. */
export class SeenDocuments {
  readonly #ids = new Map<string, string>();
  readonly #links = new Map<string, Map<string, string>>();

  /** Ids of documents, by whichever person saw them in a list. */
  note(rows: readonly { readonly id: string; readonly name: string }[]): void {
    for (const { id, name } of rows) if (name.startsWith('doc')) this.#ids.set(name, id);
  }

  noteLink(person: Person, name: string, url: string): void {
    const links = this.#links.get(person.name) ?? new Map<string, string>();
    this.#links.set(person.name, links.set(name, url));
  }

  get ids(): ReadonlyMap<string, string> {
    return this.#ids;
  }

  linksOf({ name }: Person): ReadonlyMap<string, string> {
    return this.#links.get(name) ?? new Map();
  }
}

/** By the ids of documents: what a person could keep from an earlier list. */
export function waysById(ask: Ask, { keyOf }: Place, seen: SeenDocuments) {
  let turn = 0;
  const byAlias = async (
    person: Person,
    ids: readonly (readonly [string, string])[],
    write: (alias: string, id: string) => string,
  ) => {
    if (ids.length === 0) return [];
    const query = `{ ${ids.map(([name, id]) => write(name, JSON.stringify(id))).join(' ')} }`;
    const { data } = await ask(keyOf(person), 'POST', '/graphql', { query });
    return ids.flatMap(([name]) => (namesIn(data?.[name]).includes(name) ? [name] : []));
  };
  return {
    /** Whole for members. */
    'passages of a document by its id': (person: Person) =>
      byAlias(
        person,
        [...seen.ids],
        (alias, id) => `${alias}: node(id: ${id}) { ... on KnowledgeItem { name passages(first: 2) { nodes { text } } } }`,
      ),
    /** Every third document, the others in turn: each costs some statements. */
    'a document that was cited': (person: Person) => {
      turn += 1;
      const ids = [...seen.ids].filter((_id, index) => (index + turn) % 3 === 0);
      return byAlias(person, ids, (alias, id) => `${alias}: citedDocument(id: ${id}) { name }`);
    },
  };
}

/** Answers with their sources, the search of MCP clients, and links that were given before. */
export function answers(ask: Ask, place: Place, seen: SeenDocuments) {
  const { agentId, askingAgentId, keyOf } = place;
  return {
    async 'answer of a completion, with its citations'(person: Person) {
      const body = { model: agentId, messages: [{ role: 'user', content: question }] };
      const reply = await ask(keyOf(person), 'POST', '/api/v1/chat/completions', body);
      for (const { url_citation: cited } of reply.choices[0].message.annotations ?? []) {
        if (typeof cited?.url === 'string') seen.noteLink(person, String(cited.title), cited.url);
      }
      return namesIn(reply);
    },
    async 'file_search of a response'(person: Person) {
      const body = {
        model: agentId,
        input: question,
        tools: [{ type: 'file_search' }],
        tool_choice: 'required',
        include: ['file_search_call.results'],
      };
      return namesIn(await ask(keyOf(person), 'POST', '/api/v1/responses', body));
    },
    async 'search of an MCP client'(person: Person) {
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'search_knowledge', arguments: { query: question, limit: 30 } },
      };
      return namesIn(await ask(keyOf(person), 'POST', `/mcp/agents/${agentId}`, body));
    },
    async 'links of earlier citations'(person: Person) {
      const opened: string[] = [];
      for (const [name, link] of seen.linksOf(person)) {
        // A server that was started again may have another address.
        const { pathname, search } = new URL(link, place.url);
        const reply = await fetch(new URL(`${pathname}${search}`, place.url));
        if (reply.ok) opened.push(...namesIn(await reply.text()), name);
      }
      return opened.filter((name) => name.startsWith('doc'));
    },
    async 'answer with the help of a subagent'(person: Person) {
      const body = { model: askingAgentId, input: question, tool_choice: 'required' };
      return namesIn(await ask(keyOf(person), 'POST', '/api/v1/responses', body));
    },
  };
}

interface NamedDocument {
  readonly dataSourceId: string | null;
}
interface RunPage {
  readonly citations: readonly NamedDocument[];
  readonly steps: readonly { readonly passages?: readonly NamedDocument[] }[];
}

/** What earlier answers left: pages of runs, and chats that were shared. What models wrote does not count, which stays as it was written. */
export function records(ask: Ask, { agentId, dataSourceId, keyOf }: Place) {
  const graph = async (person: Person, query: string, variables = {}) =>
    (await ask(keyOf(person), 'POST', '/graphql', { query, variables })).data;
  const secrets = new Map<string, string>();
  let turn = 0;
  const share = async (person: Person) => {
    const key = keyOf(person);
    const { id } = await ask(key, 'POST', `/api/v1/ais/${agentId}/chats`, {});
    await ask(key, 'POST', `/api/v1/chats/${id}/messages`, { prompt: question });
    const sharing = 'mutation ($id: ID!) { shareChat(chatId: $id, input: { audience: ORGANIZATION }) { url } }';
    secrets.set(person.name, (await graph(person, sharing, { id })).shareChat.url.split('#')[1]);
  };
  return {
    async 'pages of earlier runs'(person: Person) {
      const { runs } = await graph(
        person,
        `{ runs(first: 3) { nodes { citations { dataSourceId name snippet }
          steps { ... on RetrievalStep { passages { dataSourceId title } } } } } }`,
      );
      // Runs before this judge have documents of the same names, of a source that is gone.
      const named = runs.nodes.flatMap(({ citations, steps }: RunPage) => [
        ...citations,
        ...steps.flatMap(({ passages = [] }) => passages),
      ]);
      return namesIn(named.filter((document: NamedDocument) => document.dataSourceId === dataSourceId));
    },
    async 'chats that colleagues shared'(person: Person) {
      if (!person.isMember) return [];
      if (!secrets.has(person.name)) await share(person);
      turn += 1;
      const secret = [...secrets.values()][turn % secrets.size];
      const reading =
        'query ($secret: String!) { sharedChat(secret: $secret) { messages { nodes { citations { name snippet } } } } }';
      return namesIn(await graph(person, reading, { secret }));
    },
  };
}

/** Vector stores hold uploaded files: by no name is a document of a source one of theirs. */
export function closedWays(ask: Ask, { dataSourceId, keyOf }: Place, seen: SeenDocuments) {
  return {
    async 'vector stores'(person: Person) {
      const storeId = dataSourceId.replace(/^[a-z]+_/, 'vs_');
      const [, itemId = ''] = [...seen.ids][0] ?? [];
      const fileId = itemId.replace(/^[a-z]+_/, 'vsf_');
      const query = `query ($store: ID!, $file: ID!) {
        store: node(id: $store) { ... on VectorStore { files { nodes { filename } } } }
        file: node(id: $file) { ... on VectorStoreFile { filename item { name } } } }`;
      const { data } = await ask(keyOf(person), 'POST', '/graphql', { query, variables: { store: storeId, file: fileId } });
      // There is no such store: that it is refused is right.
      const search = ask(keyOf(person), 'POST', `/api/v1/vector_stores/${storeId}/search`, { query: question }).catch(() => null);
      return namesIn([data, await search]);
    },
  };
}
