import {
  type GraphQLField,
  type GraphQLOutputType,
  getNamedType,
  isAbstractType,
  isNonNullType,
  isObjectType,
  parse,
  print,
} from 'graphql';
import { expect, it } from 'vitest';
import { allRoutes } from '../../../src/rest/routes/index.ts';
import { createApis } from '../../../src/start/app.ts';
import { graphqlResponse } from '../../support/apis/graphql-inputs.ts';
import type { TestClient } from '../../support/client.ts';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { inTurn, sampled } from '../../support/property/sample.ts';
import { ResponseSocket } from '../../support/runs/responses.ts';
import { withService } from '../../support/service.ts';

/** Parts of a request for the model only: the model gets them, and no operation shows them. */
const path = '/api/v2/responses';
const model = 'openai/test-model';
const canary = 'CANARY-4711';
/** A picture of one dot. */
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const lines: string[] = [];
const { service, make, upstream } = await withService('model', {
  env: { LOG_LEVEL: 'trace' },
  onLog: (line) => void lines.push(line),
});

const ann = await make.person({ role: 'ADMIN' });
const agentId = (await make.agent({ owner: ann, modelId: model })).id;

const hidden = (part: object) => ({ ...part, invisible: true });
const text = { type: 'input_text', text: `The word is ${canary}.` };
const file = { type: 'input_file', filename: `${canary}.txt`, file_data: `data:text/plain;base64,${btoa(`It says ${canary}.`)}` };
const image = { type: 'input_image', image_url: `data:image/png;base64,${dot}` };
const user = (...content: object[]) => ({ role: 'user', content });
const seen = { type: 'input_text', text: 'What everybody may see.' };

/** Everything that the requests left, whose ids a reader may name. */
interface Left {
  readonly response: string;
  readonly chat: string;
}
type Give = (who: Person, input: readonly object[]) => Promise<Left>;
const leftOf = ({ id, conversation }: { id: string; conversation: { id: string } }): Left => ({
  response: id,
  chat: conversation.id,
});
const giving: readonly (readonly [string, Give])[] = [
  ['REST', async (who, input) => leftOf((await who.post(path, { model: agentId, input })).body)],
  [
    'REST, streamed',
    async (who, input) => {
      const frames = await who.stream(path, { model: agentId, input, stream: true });
      expect(JSON.stringify(frames)).not.toContain(canary);
      return leftOf(JSON.parse(frames.at(-2)?.data ?? '').response);
    },
  ],
  [
    'GraphQL',
    async (who, input) => {
      const query = 'mutation ($input: ResponseInput!) { createResponse(input: $input) { id chatId } }';
      const data = await who.ask(query, { input: graphqlResponse({ model: agentId, input }) });
      await Array.fromAsync(who.sse('GET', `${path}/${data.createResponse.id}?stream=true`));
      return { response: data.createResponse.id, chat: data.createResponse.chatId };
    },
  ],
  [
    'a socket',
    async (who, input) => {
      const socket = await ResponseSocket.connect(service.url, who.key);
      socket.socket.send(JSON.stringify({ type: 'response.create', model: agentId, input }));
      const last = await eventually(() => {
        const found = socket.messages.find((message) => message.includes('"response.completed"'));
        expect(found).toBeDefined();
        return String(found);
      });
      socket.socket.close();
      expect(socket.messages.join('')).not.toContain(canary);
      return leftOf(JSON.parse(last).response);
    },
  ],
  [
    'a later turn',
    async (who, input) => {
      const { id } = (await who.post(path, { model: agentId, input: [user(hidden({ ...seen, text: 'Hush.' }))] })).body;
      return leftOf((await who.post(path, { model: agentId, input, previous_response_id: id })).body);
    },
  ],
];
const call = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{}' };
const inputs: readonly (readonly [string, readonly object[]])[] = [
  ['a text alone', [user(hidden(text))]],
  ['a text beside another', [user(seen, hidden(text))]],
  ['a text before another', [user(hidden(text), seen)]],
  ['a file alone', [user(hidden(file))]],
  ['a file beside a text', [user(seen, hidden(file))]],
  ['an image', [user(hidden(image), hidden(text))]],
  ['a turn before a turn that is seen', [user(hidden(text)), user(seen)]],
  ['a turn behind one that is seen', [user(seen), user(hidden(text))]],
  ['a part of an output', [user(seen), call, { type: 'function_call_output', call_id: 'call_1', output: [seen, hidden(text)] }]],
];

const rows = sampled(giving.map(([api, give], turn) => [api, give, turn] as const));
it.each(rows)('what is hidden of a request on %s goes to the model, and no operation shows it', async (_api, give, turn) => {
  const strangers = new Set<string>();
  for (const [what, input] of inTurn(inputs, turn)) {
    upstream.reset();
    lines.length = 0;
    const left = await give(ann, input);
    expect(JSON.stringify(upstream.requests.map(({ body }) => body)), what).toContain(canary);
    const chat = `/api/v1/chats/${left.chat}`;
    // Copy, summary and compressed form of a chat. The model that makes them does not get the part either.
    const before = upstream.requests.length;
    const copy = await ann.post(`${chat}/duplicate`);
    expect(copy.status, what).toBe(200);
    const made = [copy, await ann.post(`${chat}/summarize`), await ann.post(`${chat}/compress`)];
    expectNothingOf(
      made.map(({ body }) => body),
      what,
    );
    expectNothingOf(
      upstream.requests.slice(before).map(({ body }) => body),
      what,
    );
    for (const id of [left.chat, copy.body.id]) await readAll(ann, { ...left, chat: id }, what, strangers);
    expectNothingOf(lines, what);
  }
  await readAll(ann, undefined, 'lists', strangers);
});

function expectNothingOf(shown: unknown, what: string): void {
  const text = JSON.stringify(shown);
  for (const secret of [canary, dot]) expect(text, what).not.toContain(secret);
}

/**
 * Every operation that reads, on both APIs: those with the ids of what was left, or those without an id.
 *
 * @param strangers  operations that take ids of something else, and so find nothing, whatever the input was: they are asked once.
 */
async function readAll(who: TestClient, left: Left | undefined, what: string, strangers: Set<string>): Promise<void> {
  const { response = '', chat = '' } = left ?? {};
  const ids: Readonly<Record<string, string>> = { chatId: chat, runId: response };
  const reads = allRoutes.filter(({ method, path: place }) => method === 'get' && place.includes('{') === (left !== undefined));
  for (const { operationId, path: place } of reads) {
    if (strangers.has(operationId)) continue;
    const url = place.replaceAll(/\{(\w+)\}/g, (_match, name: string) => ids[name] ?? response);
    const isStream = url.startsWith(path) && url === `${path}/${response}`;
    const format = operationId === 'exportChat' ? ['?format=json'] : [];
    for (const query of ['', `?search=${canary}`, ...format, ...(isStream ? ['?stream=true'] : [])]) {
      const reply = await who.get(url + query);
      if (left !== undefined && query === '' && reply.status === 404) strangers.add(operationId);
      expectNothingOf(withoutFlagged(reply.body), `${what}: ${operationId}${query}`);
      if (operationId === 'getChat' || operationId === 'exportChat') expect(reply.status, operationId).toBe(200);
      // A search does not find the text.
      if (query.startsWith('?search') && operationId === 'listChats') expect(reply.body.data).toEqual([]);
    }
  }
  for (const { name, query, takesId } of queries) {
    if (takesId !== (left !== undefined) || strangers.has(`Query.${name}`)) continue;
    const faults: unknown[] = [];
    let isFound = !takesId;
    let isShown = !takesId || !['chat', 'response'].includes(name);
    for (const id of takesId ? [response, chat] : ['']) {
      const { data, errors } = await who.graphql(query, { id });
      if (errors !== undefined) faults.push(errors);
      expectNothingOf(withoutFlagged(data ?? {}), `${what}: ${name}(${id})`);
      const isMissing = errors?.[0]?.extensions.code === 'NOT_FOUND' || (errors === undefined && data[name] === null);
      isShown ||= errors === undefined && !isMissing;
      isFound ||= !isMissing;
    }
    if (!isFound) strangers.add(`Query.${name}`);
    // A query that is refused shows nothing, and tells nothing.
    expect(isShown, `${name} is answered: ${JSON.stringify(faults)}`).toBe(true);
  }
}

/** The list of input items returns the flagged parts to their owner; no other operation does. */
function withoutFlagged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFlagged).filter((one) => one !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  if (('invisible' in value && value.invisible === true) || ('isInvisible' in value && value.isInvisible === true))
    return undefined;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutFlagged(one)]));
}

/** A query for each root field that takes an id or nothing, selecting three levels deep. */
const { schema } = createApis();
const queries = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap(({ name, args, type }) => {
  const required = args.filter((argument) => isNonNullType(argument.type));
  if (required.some(({ type: needed }) => String(needed) !== 'ID!')) return [];
  const given = required.map((argument) => `${argument.name}: $id`).join(', ');
  const selection = selectionOf(type, 3);
  const head = required.length === 0 ? 'query' : 'query ($id: ID!)';
  return [
    {
      name,
      takesId: required.length > 0,
      query: print(parse(`${head} { ${name}${given === '' ? '' : `(${given})`} ${selection} }`)),
    },
  ];
});

/** Members of different types may have fields of one name and different types: only those get an alias, as a document may have few of them. */
function selectionOf(type: GraphQLOutputType, depth: number, suffixOf = (_field: GraphQLField<unknown, unknown>) => ''): string {
  const named = getNamedType(type);
  if (isAbstractType(named)) {
    const possible = schema.getPossibleTypes(named);
    const members = possible.map((member) => {
      const suffix = (field: GraphQLField<unknown, unknown>) => {
        const isOfOneType = possible.every((other) => isSameType(other.getFields()[field.name]?.type, field.type));
        return isOfOneType ? '' : `_${member.name}: ${field.name}`;
      };
      return `... on ${member.name} ${selectionOf(member, depth - 1, suffix)}`;
    });
    return `{ __typename ${members.filter((member) => !member.endsWith('{ __typename }')).join(' ')} }`;
  }
  if (!isObjectType(named)) return '';
  const fields = Object.values(named.getFields()).flatMap((field) => {
    if (field.args.some((argument) => isNonNullType(argument.type) && argument.defaultValue === undefined)) return [];
    const isLeaf = !isObjectType(getNamedType(field.type)) && !isAbstractType(getNamedType(field.type));
    const shown = `${field.name}${suffixOf(field)}`;
    if (isLeaf) return [shown];
    return depth <= 1 ? [] : [`${shown} ${selectionOf(field.type, depth - 1)}`];
  });
  return `{ __typename ${fields.join(' ')} }`;
}

function isSameType(other: GraphQLOutputType | undefined, type: GraphQLOutputType): boolean {
  return other === undefined || String(other) === String(type);
}
