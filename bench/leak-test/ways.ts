import { commonWord } from './judge.ts';
import type { Person } from './world.ts';

/** Asks a path of the server with a key. @throws Error for a reply that is an error. */
// biome-ignore lint/suspicious/noExplicitAny: replies of a server that is judged.
export type Ask = (key: string, method: string, path: string, body?: object) => Promise<any>;

interface Place {
  readonly url: string;
  readonly agentId: string;
  keyOf(person: Person): string;
}

/** The names of documents in a reply, wherever they stand. */
export function namesIn(reply: unknown): readonly string[] {
  return [...new Set((JSON.stringify(reply) ?? '').match(/doc\d\d/g) ?? [])];
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

/** Whole ways by the ids of documents, for members: what a person could keep from an earlier list. */
export function waysById(ask: Ask, { keyOf }: Place, seen: SeenDocuments) {
  const byAlias = async (person: Person, write: (alias: string, id: string) => string) => {
    const ids = [...seen.ids];
    const query = `{ ${ids.map(([name, id]) => write(name, JSON.stringify(id))).join(' ')} }`;
    const { data } = await ask(keyOf(person), 'POST', '/graphql', { query });
    return ids.flatMap(([name]) => (namesIn(data?.[name]).includes(name) ? [name] : []));
  };
  return {
    'passages of a document by its id': (person: Person) =>
      byAlias(
        person,
        (alias, id) => `${alias}: node(id: ${id}) { ... on KnowledgeItem { name passages(first: 2) { nodes { text } } } }`,
      ),
    'a document that was cited': (person: Person) =>
      byAlias(person, (alias, id) => `${alias}: citedDocument(id: ${id}) { name }`),
  };
}

/** Answers with their sources, the search of MCP clients, and links that were given before. */
export function answers(ask: Ask, { url, agentId, keyOf }: Place, seen: SeenDocuments) {
  const question = `What does the ${commonWord} name, a sum and a day?`;
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
        const reply = await fetch(new URL(link, url));
        if (reply.ok) opened.push(...namesIn(await reply.text()), name);
      }
      return opened.filter((name) => name.startsWith('doc'));
    },
  };
}
