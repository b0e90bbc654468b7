import { expect } from 'vitest';
import type { SseFrame } from '../client.ts';
import type { Person } from '../make.ts';
import { graphqlInput } from '../tools/graphql-tool.ts';
import { graphqlCompletion } from './graphql-inputs.ts';

/** A request in terms that all APIs share. */
export interface Asked {
  /** A model, or an agent. */
  readonly model: string;
  /** Types of tools of the service. */
  readonly tools: readonly string[];
  /** `tool_choice`, where the API has it. */
  readonly toolChoice?: 'none';
  /** `max_tool_calls`, where the API has it. */
  readonly toolCallsMax?: number;
}

/** How an answer ended, in the terms of the responses format. */
export interface Ended {
  readonly status: string;
  /** The reason when it is `incomplete`. */
  readonly reason: string | null;
  /** Names of the functions that the client is asked to call. */
  readonly calls: readonly string[];
}

/** One way to get an answer of a model: an API, streaming or in one piece. */
export interface Way {
  readonly name: string;
  readonly hasToolChoice: boolean;
  readonly hasToolCallsMax: boolean;
  /** Whether the model is asked for its answer in one piece. */
  readonly isInOnePiece?: true;
  ask(who: Person, asked: Asked): Promise<Ended>;
}

const question = 'Go on';
// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found in them is what is checked.
type Wire = any;

const completing = ({ model, tools, toolChoice }: Asked) => ({
  model,
  messages: [{ role: 'user', content: question }],
  tools: tools.map((type) => ({ type })),
  ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
});
const graphqlAsking = (asked: Asked) => graphqlCompletion(completing(asked));
const responding = ({ model, tools, toolChoice, toolCallsMax }: Asked) => ({
  model,
  input: question,
  tools: tools.map((type) => ({ type })),
  ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
  ...(toolCallsMax === undefined ? {} : { max_tool_calls: toolCallsMax }),
});

const ofFinish = (finish: string, details: { reason: string } | null | undefined, calls: readonly string[]): Ended => {
  // Both members must agree.
  expect(finish === 'length').toBe((details ?? null) !== null);
  return { status: finish === 'length' ? 'incomplete' : 'completed', reason: details?.reason ?? null, calls };
};
const ofResponse = ({ status, incomplete_details: details, output }: Wire): Ended => ({
  status,
  reason: details?.reason ?? null,
  calls: output.flatMap((item: Wire) => (item.type === 'function_call' ? [item.name] : [])),
});
const json = ({ data }: SseFrame): Wire => JSON.parse(data);
const path = '/api/v2/responses';

async function completion(who: Person, asked: Asked): Promise<Ended> {
  const { status, body } = await who.post('/api/v1/chat/completions', completing(asked));
  expect(status, JSON.stringify(body)).toBe(200);
  const { finish_reason: finish, message } = body.choices[0];
  return ofFinish(
    finish,
    body.incomplete_details,
    (message.tool_calls ?? []).map((call: Wire) => call.function.name),
  );
}

async function completionStream(who: Person, asked: Asked): Promise<Ended> {
  const frames = await who.stream('/api/v1/chat/completions', { ...completing(asked), stream: true });
  expect(frames.at(-1)?.data).toBe('[DONE]');
  const chunks = frames.slice(0, -1).map(json);
  const last = chunks.at(-1);
  expect(chunks.filter((chunk) => chunk.incomplete_details !== undefined && chunk !== last)).toEqual([]);
  const calls = chunks.flatMap((chunk) => chunk.choices[0].delta.tool_calls ?? []).flatMap((call) => call.function.name ?? []);
  return ofFinish(last.choices[0].finish_reason, last.incomplete_details, calls);
}

async function chatId(who: Person, { model }: Asked): Promise<string> {
  return (await who.post(`/api/v1/ais/${model}/chats`, {})).body.id;
}
const messageOf = ({ tools }: Asked) => ({ prompt: question, tools: tools.map((type) => ({ type })) });
/** GraphQL shows enums by their names. */
const ofMessage = ({ status, incompleteReason, toolCalls }: Wire): Ended => ({
  status: status.toLowerCase(),
  reason: incompleteReason?.toLowerCase() ?? null,
  calls: (toolCalls ?? []).map(({ name }: Wire) => name),
});

/** Every way. */
export const ways: readonly Way[] = [
  { name: 'a completion', isInOnePiece: true, hasToolChoice: true, hasToolCallsMax: false, ask: completion },
  { name: 'a completion, streamed', hasToolChoice: true, hasToolCallsMax: false, ask: completionStream },
  {
    ...{ name: 'a completion on GraphQL', isInOnePiece: true, hasToolChoice: true, hasToolCallsMax: false },
    async ask(who, asked) {
      const query =
        'mutation ($input: CompletionInput!) { createCompletion(input: $input) { status incompleteReason toolCalls { name } } }';
      const data = await who.ask(query, { input: graphqlAsking(asked) });
      return ofMessage(data.createCompletion);
    },
  },
  {
    ...{ name: 'a completion on GraphQL, streamed', hasToolChoice: true, hasToolCallsMax: false },
    async ask(who, asked) {
      const query =
        'subscription ($input: CompletionInput!) { completionEvents(input: $input) { ... on RunEnded { run { status incompleteReason toolCalls { name } } } } }';
      const events = await Array.fromAsync(
        who.subscribe(query, { input: graphqlAsking(asked) }),
        ({ data }) => data.completionEvents,
      );
      return ofMessage(events.at(-1).run);
    },
  },
  {
    ...{ name: 'a chat', hasToolChoice: false, hasToolCallsMax: false },
    async ask(who, asked) {
      return ofMessage((await who.post(`/api/v1/chats/${await chatId(who, asked)}/messages`, messageOf(asked))).body);
    },
  },
  {
    ...{ name: 'a chat, streamed', hasToolChoice: false, hasToolCallsMax: false },
    async ask(who, asked) {
      const sent = { ...messageOf(asked), stream: true };
      const events = (await who.stream(`/api/v1/chats/${await chatId(who, asked)}/messages`, sent)).map(json);
      const toolCalls = events.find(({ type }) => type === 'tool.call')?.toolCalls;
      return ofMessage({ ...events.at(-2), toolCalls });
    },
  },
  {
    ...{ name: 'a chat on GraphQL', hasToolChoice: false, hasToolCallsMax: false },
    async ask(who, asked) {
      const sending = 'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }';
      const { data } = await who.graphql(sending, {
        chatId: await chatId(who, asked),
        input: graphqlInput(messageOf(asked)),
      });
      const following =
        'subscription ($runId: ID!) { runEvents(runId: $runId) { ... on RunEnded { run { status incompleteReason output { ... on FunctionCallItem { name } } } } } }';
      const events = await Array.fromAsync(who.subscribe(following, { runId: data.sendMessage.id }));
      const { run } = events.at(-1).data.runEvents;
      return ofMessage({ ...run, toolCalls: run.output.filter(({ name }: Wire) => name !== undefined) });
    },
  },
  {
    ...{ name: 'a response', hasToolChoice: true, hasToolCallsMax: true },
    async ask(who, asked) {
      return ofResponse((await who.post(path, responding(asked))).body);
    },
  },
  {
    ...{ name: 'a response, streamed', hasToolChoice: true, hasToolCallsMax: true },
    async ask(who, asked) {
      return ofResponse(json((await who.stream(path, { ...responding(asked), stream: true })).at(-2) as SseFrame).response);
    },
  },
  {
    ...{ name: 'a response in the background', hasToolChoice: true, hasToolCallsMax: true },
    async ask(who, asked) {
      const { id } = (await who.post(path, { ...responding(asked), background: true })).body;
      await Array.fromAsync(who.sse('GET', `${path}/${id}?stream=true`));
      return ofResponse((await who.get(`${path}/${id}`)).body);
    },
  },
  {
    ...{ name: 'a response that is not stored', isInOnePiece: true, hasToolChoice: true, hasToolCallsMax: true },
    async ask(who, asked) {
      const { body } = await who.post(path, { ...responding(asked), store: false });
      // A response that failed before any output is an error reply.
      return body.object === 'response' ? ofResponse(body) : { status: 'failed', reason: null, calls: [] };
    },
  },
];
