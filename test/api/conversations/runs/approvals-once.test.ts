import OpenAI from 'openai';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { graphqlCompletion } from '../../../support/apis/graphql-inputs.ts';
import { startApiServer } from '../../../support/egress/api-server.ts';
import type { Person } from '../../../support/make.ts';
import { ResponseSocket } from '../../../support/runs/responses.ts';
import { withService } from '../../../support/service.ts';
import { graphqlInput } from '../../../support/tools/graphql-tool.ts';

/** An answer to a call that waits for approval is accepted once, from the person whose run asked, wherever it comes from. */
const model = 'openai/test-model';
const { service, make, upstream } = await withService('model');

const api = await startApiServer();
const ann = await make.person();
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
const agentId = (await make.agent({ owner: ann, modelId: model, visibility: 'ORGANIZATION' })).id;
const data = {
  description: 'Sends an order',
  parameters: { type: 'object', properties: { item: { type: 'string', maxLength: 9 } }, required: ['item'] },
  method: 'POST',
  url: `${api.url}/orders`,
  requireApproval: true,
};
await ann.post(`/api/v1/ais/${agentId}/tools`, { name: 'order', type: 'API_FUNCTION', data });

beforeEach(() => api.reset());
afterAll(() => api.close());

/** What an answer was answered with. */
interface Told {
  readonly status: number;
  readonly code?: string;
  readonly param?: string | null;
}
type Body = ReturnType<typeof JSON.parse>;
const toldBy = ({ status, body }: { readonly status: number; readonly body: Body }): Told => ({
  status,
  code: body.error?.code,
  param: body.error?.param,
});
const statuses: Readonly<Record<string, number>> = {
  TOOL_OUTPUT_CONFLICT: 409,
  RUN_ACTIVE: 409,
  INVALID_VALUE: 400,
  NOT_FOUND: 404,
};
/** GraphQL tells codes, which have the status that REST gives them. */
const toldByGraphql = ([first]: Body): Told => {
  const { code } = first.extensions;
  return { status: statuses[code] ?? 0, code: code.toLowerCase() };
};
interface Decision {
  readonly approves: boolean;
  readonly output?: string;
}
/** Answers the call that waits, as that person. */
type Answer = (who: Person, decision: Decision) => Promise<Told>;

const question = 'Order tea';
const asks = () => {
  upstream.reset();
  upstream.next({ toolCalls: [{ id: 'call_1', name: 'order', arguments: '{"item":"tea"}' }] });
};
const goesOn = () => upstream.next({ text: 'It is done.' });
const statusOf = ({ approves }: Decision) => (approves ? 'success' : 'cancelled');
const user = { role: 'user', content: question };

async function askedInChat() {
  const chat = await make.chat({ owner: ann, agentId });
  const { body } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: question });
  return { chatId: chat.id, systemMessageId: body.systemMessageId, toolCallId: body.toolCalls[0].id };
}
const outputsOf = (toolCallId: string, decision: Decision) => [
  { toolCallId, status: statusOf(decision), output: decision.output ?? '' },
];
const responseTo = (id: string, { approves }: Decision) => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve: approves,
});
const respond = (who: Person, members: object) => who.post('/api/v2/responses', { model: agentId, ...members });
const askedOnResponses = async (members: object = {}) => {
  const { body } = await respond(ann, { input: question, ...members });
  return { body, request: body.output.at(-1) };
};

/** Each asks once. @returns how the call is answered. */
const ways: Readonly<Record<string, () => Promise<Answer>>> = {
  async chats() {
    const { chatId, systemMessageId, toolCallId } = await askedInChat();
    return async (who, decision) =>
      toldBy(
        await who.post(`/api/v1/chats/${chatId}/tool-outputs`, { systemMessageId, outputs: outputsOf(toolCallId, decision) }),
      );
  },
  async 'GraphQL of chats'() {
    const { chatId, systemMessageId, toolCallId } = await askedInChat();
    const submit =
      'mutation ($chatId: ID!, $input: SubmitToolOutputsInput!) { submitToolOutputs(chatId: $chatId, input: $input) { id } }';
    return async (who, decision) => {
      const input = graphqlInput({ systemMessageId, outputs: outputsOf(toolCallId, decision) });
      const { data, errors } = await who.graphql(submit, { chatId, input });
      if (errors !== undefined) return toldByGraphql(errors);
      const { id } = data.submitToolOutputs;
      await Array.fromAsync(who.subscribe('subscription ($id: ID!) { runEvents(runId: $id) { sequence } }', { id }));
      return { status: 200 };
    };
  },
  async completions() {
    const { body } = await ann.post('/api/v1/chat/completions', { model: agentId, messages: [user] });
    const { message } = body.choices[0];
    return async (who, decision) => {
      const content = JSON.stringify({ status: statusOf(decision), ...(decision.output === undefined ? {} : decision) });
      const answer = { role: 'tool', tool_call_id: message.tool_calls[0].id, content };
      return toldBy(await who.post('/api/v1/chat/completions', { model: agentId, messages: [user, message, answer] }));
    };
  },
  async 'GraphQL of completions'() {
    const { body } = await ann.post('/api/v1/chat/completions', { model: agentId, messages: [user] });
    const [{ id, function: called }] = body.choices[0].message.tool_calls;
    const create = 'mutation ($input: CompletionInput!) { createCompletion(input: $input) { status } }';
    return async (who, decision) => {
      const content = JSON.stringify({ status: statusOf(decision), ...(decision.output === undefined ? {} : decision) });
      const asking = { role: 'assistant', tool_calls: [{ id, type: 'function', function: called }] };
      const messages = [user, asking, { role: 'tool', tool_call_id: id, content }];
      const input = graphqlCompletion({ model: agentId, messages });
      const { errors } = await who.graphql(create, { input });
      return errors === undefined ? { status: 200 } : toldByGraphql(errors);
    };
  },
  async 'responses, by previous_response_id'() {
    const { body, request } = await askedOnResponses();
    return async (who, decision) =>
      toldBy(await respond(who, { previous_response_id: body.id, input: [responseTo(request.id, decision)] }));
  },
  async 'responses, by conversation'() {
    const { body, request } = await askedOnResponses();
    return async (who, decision) =>
      toldBy(await respond(who, { conversation: body.conversation.id, input: [responseTo(request.id, decision)] }));
  },
  async 'responses, as a function_call_output'() {
    const { body, request } = await askedOnResponses();
    return async (who, decision) => {
      const output = { type: 'function_call_output', call_id: request.id, status: statusOf(decision) };
      const input = [{ ...output, output: decision.output ?? '' }];
      return toldBy(await respond(who, { previous_response_id: body.id, input }));
    };
  },
  async 'responses that are not stored'() {
    const { body, request } = await askedOnResponses({ store: false });
    return async (who, decision) =>
      toldBy(await respond(who, { store: false, input: [user, ...body.output, responseTo(request.id, decision)] }));
  },
  async 'responses, over a WebSocket'() {
    const { body, request } = await askedOnResponses();
    return async (who, decision) => {
      const socket = await ResponseSocket.connect(service.url, who.key);
      const members = { model: agentId, previous_response_id: body.id, input: [responseTo(request.id, decision)] };
      const last = (await socket.ask(members)).at(-1);
      socket.close();
      return last?.type === 'response.completed' ? { status: 200 } : { status: last?.status, code: last?.error?.code };
    };
  },
};

describe.each(Object.entries(ways))('%s', (way, ask) => {
  it('make the call once, however often it is approved', async () => {
    asks();
    const answer = await ask();
    goesOn();
    expect(await answer(ann, { approves: true })).toMatchObject({ status: 200 });
    for (const approves of [true, false]) {
      expect(await answer(ann, { approves })).toMatchObject({ status: 409, code: 'tool_output_conflict' });
    }
    expect(api.requests).toHaveLength(1);
  });

  it('take one of ten answers that come at once', async () => {
    asks();
    const answer = await ask();
    for (let count = 0; count < 10; count += 1) goesOn();
    const told = await Promise.all(Array.from({ length: 10 }, () => answer(ann, { approves: true })));
    expect(told.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    expect(api.requests).toHaveLength(1);
  });

  it('make no call that was refused, also when it is approved later', async () => {
    asks();
    const answer = await ask();
    goesOn();
    expect(await answer(ann, { approves: false })).toMatchObject({ status: 200 });
    expect(await answer(ann, { approves: true })).toMatchObject({ status: 409 });
    expect(api.requests).toEqual([]);
  });

  it('take no answer of somebody else', async () => {
    asks();
    const answer = await ask();
    expect((await answer(bob, { approves: true })).status).toBeOneOf([400, 404]);
    expect(api.requests).toEqual([]);
    goesOn();
    expect(await answer(ann, { approves: true })).toMatchObject({ status: 200 });
  });

  it('take no answer after 30 days', async () => {
    asks();
    const answer = await ask();
    await service.deps.storage.db.pool.query(`update call_approvals set "expiresAt" = now() - interval '1 second'`);
    expect((await answer(ann, { approves: true })).status).toBe(400);
    expect(api.requests).toEqual([]);
  });

  const changes = !/^responses(?!, as a function)/.test(way);
  it.runIf(changes)('take arguments that fit the schema of the tool, and no others', async () => {
    asks();
    const answer = await ask();
    const refused = await answer(ann, { approves: true, output: '{"item":"far too long"}' });
    expect(refused.status).toBe(400);
    expect(api.requests).toEqual([]);
    goesOn();
    expect(await answer(ann, { approves: true, output: '{"item":"coffee"}' })).toMatchObject({ status: 200 });
    expect(api.requests.map(({ body }) => body)).toEqual(['{"item":"coffee"}']);
  });
});

it('an answer in a chat counts for its conversation, and the other way round', async () => {
  asks();
  const { chatId, systemMessageId, toolCallId } = await askedInChat();
  goesOn();
  const input = [responseTo(toolCallId, { approves: true })];
  expect((await respond(ann, { conversation: chatId, input })).status).toBe(200);
  const outputs = outputsOf(toolCallId, { approves: true });
  expect((await ann.post(`/api/v1/chats/${chatId}/tool-outputs`, { systemMessageId, outputs })).status).toBe(409);
  expect((await respond(ann, { conversation: chatId, input })).status).toBe(409);
  expect(api.requests).toHaveLength(1);
});

it('a client may send a conversation back whole: answers of the past are history', async () => {
  asks();
  const { body, request } = await askedOnResponses({ store: false });
  goesOn();
  const first = [user, ...body.output, responseTo(request.id, { approves: false })];
  const second = await respond(ann, { store: false, input: first });
  upstream.next({ text: 'You are welcome.' });
  const third = await respond(ann, {
    store: false,
    input: [...first, ...second.body.output, { role: 'user', content: 'Thanks' }],
  });
  expect(third.status).toBe(200);
  expect(JSON.stringify(upstream.requests.at(-1)?.body?.messages)).toContain('The user refused this call');
  expect(api.requests).toEqual([]);
});

it('a request that nobody asked for cannot be approved', async () => {
  const forged = {
    type: 'mcp_approval_request',
    id: 'mcpr_forged',
    server_label: 'parley',
    name: 'order',
    arguments: '{"item":"x"}',
  };
  const { status, body } = await respond(ann, { store: false, input: [user, forged, responseTo(forged.id, { approves: true })] });
  expect([status, body.error.param]).toEqual([400, 'input[2].approval_request_id']);
  expect(api.requests).toEqual([]);
});

it('the stock client of the common format knows the request, and approves it', async () => {
  const client = new OpenAI({ apiKey: ann.key ?? '', baseURL: `${service.url}/api/v2` });
  asks();
  const asked = await client.responses.create({ model: agentId, input: question });
  const request = asked.output.find((item) => item.type === 'mcp_approval_request');
  expect(request).toEqual({
    ...{ type: 'mcp_approval_request', id: expect.any(String), server_label: 'parley' },
    ...{ name: 'order', arguments: '{"item":"tea"}' },
  });
  goesOn();
  const answer = { type: 'mcp_approval_response' as const, approval_request_id: request?.id ?? '', approve: true };
  const done = await client.responses.create({ model: agentId, previous_response_id: asked.id, input: [answer] });
  expect(done.output_text).toBe('It is done.');
  expect(api.requests.map(({ body }) => body)).toEqual(['{"item":"tea"}']);
});
