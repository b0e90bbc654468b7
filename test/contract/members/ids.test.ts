import { beforeEach, describe, expect, it } from 'vitest';
import { type IdKind, idPrefixes, isId, kindOfId } from '../../../src/entities/ground/ids.ts';
import { withService } from '../../support/service.ts';

/** An id names a thing the same way on every API: an id from one API works on the other. */
const { service, make, upstream } = await withService('model');
const model = 'openai/test-model';
const ann = await make.person({ role: 'ADMIN' });
const agentId = (await make.agent({ owner: ann, modelId: model })).id;

beforeEach(() => {
  upstream.otherwise({ text: 'Hello' });
});

const messages = [{ role: 'user', content: 'Hi' }];

describe('an id that is made for a reply', () => {
  it('of a completion begins as the format has it, streamed or not', async () => {
    const plain = (await ann.post('/api/v1/chat/completions', { model, messages })).body;
    const [chunk] = await ann.stream('/api/v1/chat/completions', { model, messages, stream: true });
    for (const { id, chatId } of [plain, JSON.parse(chunk?.data ?? '{}')]) {
      expect(isId('completion', id), id).toBe(true);
      expect(id).toMatch(/^chatcmpl-\w{26}$/);
      expect(chatId).toBe(`stateless_${id.slice('chatcmpl-'.length)}`);
    }
  });
});

describe('ids of one thing are the same on both APIs', () => {
  it('of a chat: its messages, its run, its events', async () => {
    const chatId = (await ann.post(`/api/v1/ais/${agentId}/chats`, {})).body.id;
    const frames = await ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hi', stream: true });
    const shown = frames.map(({ data }) => (data === '' ? {} : JSON.parse(data)));
    const { runId } = shown.find((event) => event.runId !== undefined) ?? expect.fail();
    const rest = (await ann.get(`/api/v1/chats/${chatId}`)).body;
    const query = `{ chat(id: "${chatId}") { id messages(first: 100) { nodes { id } } } run(id: "${runId}") { id messages { id } } }`;
    const { chat, run } = (await ann.graphql(query)).data;
    expect(idsOf(rest.messages)).toEqual(idsOf(chat.messages.nodes));
    expect(chat.id).toBe(rest.id);
    expect(run.id).toBe(runId);
    expect(idsOf(chat.messages.nodes)).toEqual(expect.arrayContaining(idsOf(run.messages)));
    const known = new Set([chatId, runId, agentId, ...idsOf(chat.messages.nodes)]);
    for (const id of everyId(shown)) expect(known, id).toContain(id);
  });

  it('of a response: its items, its conversation, its events', async () => {
    const call = { id: 'call_1', name: 'add', arguments: '{}' };
    const tool = { type: 'function', name: 'add', parameters: { type: 'object' } };
    upstream.next({ text: 'So', toolCalls: [call], usage: null });
    const { body: rest } = await ann.post('/api/v2/responses', { model, input: 'Hi', tools: [tool] });
    const got = (await ann.get(`/api/v2/responses/${rest.id}`)).body;
    const { body: given } = await ann.get(`/api/v2/responses/${rest.id}/input_items`);
    const query = `{
      response(id: "${rest.id}") { id output { id } }
      responseInputItems(id: "${rest.id}") { nodes { id } }
    }`;
    const { response, responseInputItems } = (await ann.graphql(query)).data;
    expect(idsOf(got.output)).toEqual(idsOf(rest.output));
    expect(response.id).toBe(rest.id);
    expect(idsOf(response.output)).toEqual(idsOf(rest.output));
    expect(idsOf(responseInputItems.nodes)).toEqual(idsOf(given.data));
    const events = `subscription { runEvents(runId: "${rest.id}") { __typename ... on ItemAdded { item { id } } } }`;
    const results = await Array.fromAsync(ann.subscribe(events));
    const added = results.flatMap(({ data }) => data?.runEvents?.item ?? []);
    expect(idsOf(added)).toEqual(idsOf(rest.output));
  });

  /** Lists that both APIs show: the path, and the root field with its selection. */
  const lists = {
    '/api/v1/ais': ['agents', 'nodes { id }'],
    '/api/v1/chats': ['chats', 'nodes { id }'],
    '/api/v1/data-sources': ['dataSources', 'nodes { id }'],
    '/api/v1/groups': ['myGroups', 'nodes { id }'],
    '/api/v1/api-keys': ['apiKeys', 'nodes { id }'],
    '/api/v1/connections': ['connections', 'nodes { id }'],
    '/api/v1/models': ['models', 'id'],
    '/api/v1/admin/users': ['users', 'nodes { id }'],
    '/api/v1/admin/memberships': ['memberships', 'nodes { id }'],
    '/api/v1/admin/audit-log': ['auditLog', 'nodes { id }'],
    '/api/v1/admin/organizations': ['organizations', 'nodes { id }'],
  } as const;
  it.each(Object.entries(lists))('of the list %s', async (path, [field, selection]) => {
    const who = path.includes('organizations') ? service.client() : ann;
    const { status, body } = await who.get(path);
    expect(status).toBe(200);
    const { data } = await who.graphql(`{ ${field} { ${selection} } }`);
    const ofGraphql = idsOf(data[field].nodes ?? data[field]);
    const ofRest = idsOf(body.data ?? body);
    expect(ofRest.slice(0, ofGraphql.length)).toEqual(ofGraphql);
  });
});

describe('a kind of id', () => {
  it.each(Object.keys(idPrefixes) as IdKind[])('%s is known again by what it begins with', (kind) => {
    const id = service.deps.newId(kind);
    expect(kindOfId(id)).toBe(kind);
    expect(isId(kind, id)).toBe(true);
  });
});

function idsOf(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}

/** Every value that looks like one of Parley's ids, in members whose name ends with `id`. */
function everyId(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(everyId);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    /id$/i.test(name) && typeof member === 'string' && kindOfId(member) !== undefined ? [member] : everyId(member),
  );
}
