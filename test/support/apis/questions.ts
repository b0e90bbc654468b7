import { expect } from 'vitest';
import type { SseFrame } from '../client.ts';
import type { Person } from '../make.ts';
import { eventually } from '../processes/eventually.ts';
import {
  type Answer,
  chatAnswer,
  chatFramesAnswer,
  chunksAnswer,
  completionAnswer,
  eventsResponse,
  failed,
  responseAnswer,
  runResponse,
  type Wire,
} from '../runs/answers.ts';
import { eventsOf, walk } from '../runs/response-walk.ts';
import { graphqlInput } from '../tools/graphql-tool.ts';
import { doors } from './doors.ts';
import { graphqlCompletion, graphqlResponse } from './graphql-inputs.ts';

/** The same question for every API. */
export interface Question {
  /** A model or an agent. A chat needs an agent: `agentOfModel` replaces a plain model there. */
  readonly model: string;
  readonly agentOfModel: string;
  readonly text: string;
  readonly image?: string;
  readonly functions?: readonly { readonly name: string; readonly description: string; readonly parameters: object }[];
  /** JSON Schema of the answer. */
  readonly format?: { readonly name: string; readonly schema: object; readonly strict: boolean };
  /** The output for the calls of the answer; the model is called again with it. */
  readonly output?: string;
}

/** Sends the question and, when it has an output, sends that too: one answer for each request. */
export type Ask = (who: Person, question: Question) => Promise<readonly Answer[]>;

const completions = '/api/v1/chat/completions';
const responses = '/api/v2/responses';

export const apis: Readonly<Record<string, Ask>> = {
  completion: (who, question) =>
    askCompletion(question, async (body) => completionAnswer((await who.post(completions, body)).body)),
  'completion stream': (who, question) =>
    askCompletion(question, async (body) => {
      const reply = await who.fetch('POST', completions, { ...body, stream: true, stream_options: { include_usage: true } }, {});
      const text = await reply.text();
      if (!reply.ok) return completionAnswer(JSON.parse(text));
      const frames = text.split('\n\n').filter((frame) => frame.startsWith('data: '));
      expect(frames.at(-1)).toBe('data: [DONE]');
      return chunksAnswer(frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6))));
    }),
  'completion by GraphQL': (who, question) =>
    askCompletion(question, async (body) => {
      const { data, errors } = await who.graphql(completionMutation, { input: graphqlCompletion(body) });
      if (errors !== undefined) return failed(errors[0].extensions.code);
      return responseAnswer(runResponse(data.createCompletion));
    }),
  'completion subscription': (who, question) =>
    askCompletion(question, async (body) => {
      const results = await Array.fromAsync(who.subscribe(completionSubscription, { input: graphqlCompletion(body) }));
      if (results[0].errors !== undefined) return failed(results[0].errors[0].extensions.code);
      return responseAnswer(eventsResponse(results.map(({ data }) => data.completionEvents)));
    }),

  chat: (who, question) => askChat(who, question, async (path, body) => chatAnswer((await who.post(path, body)).body)),
  'chat stream': (who, question) =>
    askChat(who, question, async (path, body) => {
      const frames = await who.stream(path, { ...body, stream: true });
      expect(frames.at(-1)?.event).toBe('done');
      return chatFramesAnswer(frames.map(({ data }) => JSON.parse(data)));
    }),
  'chat by GraphQL': (who, question) =>
    askChat(who, question, async (path, input, chatId) => {
      const name = path.endsWith('messages') ? 'sendMessage' : 'submitToolOutputs';
      const type = name === 'sendMessage' ? 'SendMessageInput' : 'SubmitToolOutputsInput';
      const begun = await graphql(
        who,
        `mutation ($chatId: ID!, $input: ${type}!) { ${name}(chatId: $chatId, input: $input) { id } }`,
        {
          chatId,
          input: graphqlInput(input),
        },
      );
      return eventually(async () => {
        const { run } = await graphql(who, runQuery, { id: begun[name].id });
        expect(run.status).not.toBe('IN_PROGRESS');
        const incompleteReason = run.incompleteReason?.toLowerCase() ?? null;
        const shown = { ...run, status: run.status.toLowerCase(), incompleteReason, systemMessageId: run.message?.id };
        return chatAnswer(shown);
      });
    }),
  'chat subscription': (who, question) =>
    askChat(who, question, async (path, input, chatId) => {
      const name = path.endsWith('messages') ? 'messageEvents' : 'toolOutputEvents';
      const type = name === 'messageEvents' ? 'SendMessageInput' : 'SubmitToolOutputsInput';
      const query = `subscription ($chatId: ID!, $input: ${type}!) { ${name}(chatId: $chatId, input: $input) ${runEvent} }`;
      const results = await Array.fromAsync(who.subscribe(query, { chatId, input: graphqlInput(input) }));
      return responseAnswer(eventsResponse(results.map(({ data }) => data[name])));
    }),

  response: (who, question) => askResponse(question, async (body) => (await who.post(responses, body)).body),
  'response stream': (who, question) =>
    askResponse(question, async (body) => lastResponse(await who.stream(responses, { ...body, stream: true }))),
  'response, not stored': (who, question) =>
    askResponse(question, async (body) => (await who.post(responses, { ...body, store: false })).body, true),
  'response in the background': (who, question) =>
    askResponse(question, async (body) => {
      const begun = await who.post(responses, { ...body, background: true });
      return lastResponse(await Array.fromAsync(who.sse('GET', `${responses}/${begun.body.id}?stream=true`)));
    }),
  'response over a socket': (who, question) => askResponse(question, (body) => overSocket(who, body)),
  'response by GraphQL': (who, question) =>
    askResponse(question, async (body) => {
      const begun = await graphql(who, 'mutation ($input: ResponseInput!) { createResponse(input: $input) { id } }', {
        input: graphqlResponse(body),
      });
      return eventually(async () => {
        const { response } = await graphql(who, responseQuery, { id: begun.createResponse.id });
        expect(response.status).not.toBe('IN_PROGRESS');
        return runResponse(response);
      });
    }),
  'response subscription': (who, question) =>
    askResponse(question, async (body) => {
      const query = `subscription ($input: ResponseInput!) { newResponseEvents(input: $input) ${runEvent} }`;
      const results = await Array.fromAsync(who.subscribe(query, { input: graphqlResponse(body) }));
      return eventsResponse(results.map(({ data }) => data.newResponseEvents));
    }),
  ...doors,
};

async function askCompletion(question: Question, ask: (body: Wire) => Promise<Answer>): Promise<readonly Answer[]> {
  const { model, text, image, functions, format, output } = question;
  const parts = [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: image } },
  ];
  const messages: object[] = [{ role: 'user', content: image === undefined ? text : parts }];
  const body = {
    model,
    messages,
    ...(functions === undefined ? {} : { tools: functions.map((called) => ({ type: 'function', function: called })) }),
    ...(format === undefined ? {} : { response_format: { type: 'json_schema', json_schema: format } }),
  };
  const first = await ask(body);
  if (output === undefined) return [first];
  const calls = first.calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  const outputs = first.calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: output }));
  const said = { role: 'assistant', content: first.text === '' ? null : first.text, tool_calls: calls };
  return [first, await ask({ ...body, messages: [...messages, said, ...outputs] })];
}

async function askChat(
  who: Person,
  { model, agentOfModel, text, image, functions, output }: Question,
  ask: (path: string, body: Wire, chatId: string) => Promise<Answer & { readonly messageId?: string }>,
): Promise<readonly Answer[]> {
  const agentId = model.startsWith('ai_') ? model : agentOfModel;
  const { id } = (await who.post(`/api/v1/ais/${agentId}/chats`)).body;
  const parts = [
    { type: 'text', text },
    { type: 'url', url: image },
  ];
  const { messageId, ...first } = await ask(
    `/api/v1/chats/${id}/messages`,
    {
      prompt: image === undefined ? text : parts,
      ...(functions === undefined ? {} : { tools: functions.map((called) => ({ type: 'function', function: called })) }),
    },
    id,
  );
  if (output === undefined) return [first];
  const transcript = (await who.get(`/api/v1/chats/${id}`)).body.messages;
  const outputs = first.calls.map((call) => ({ toolCallId: call.id, status: 'success', output }));
  const systemMessageId = messageId ?? transcript.at(-1).id;
  const { messageId: _id, ...second } = await ask(`/api/v1/chats/${id}/tool-outputs`, { systemMessageId, outputs }, id);
  return [first, second];
}

async function askResponse(
  { model, text, image, functions, format, output }: Question,
  ask: (body: Wire) => Promise<Wire>,
  sendsAll = false,
): Promise<readonly Answer[]> {
  const parts = [
    { type: 'input_text', text },
    { type: 'input_image', image_url: image },
  ];
  const input = image === undefined ? text : [{ role: 'user', content: parts }];
  const body = {
    model,
    ...(functions === undefined ? {} : { tools: functions.map((called) => ({ type: 'function', ...called })) }),
    ...(format === undefined ? {} : { text: { format: { type: 'json_schema', ...format } } }),
  };
  const first = await ask({ ...body, input });
  if (output === undefined) return [responseAnswer(first)];
  const outputs = first.output
    .filter(({ type }: Wire) => type === 'function_call')
    .map(({ call_id }: Wire) => ({ type: 'function_call_output', call_id, output }));
  const second = sendsAll
    ? { ...body, input: [{ role: 'user', content: text }, ...first.output, ...outputs] }
    : { ...body, input: outputs, previous_response_id: first.id };
  return [responseAnswer(first), responseAnswer(await ask(second))];
}

const wholeRun = `{
  id status incompleteReason error { code } usage { inputTokens outputTokens }
  output {
    __typename ... on MessageItem { text citations { answerStart answerEnd name url } } ... on CallItem { callId name arguments }
  }
}`;
const runEvent = `{ __typename ... on TextDelta { delta } ... on RunEnded { run ${wholeRun} } }`;
const completionMutation = `mutation ($input: CompletionInput!) { createCompletion(input: $input) ${wholeRun} }`;
const completionSubscription = `subscription ($input: CompletionInput!) { completionEvents(input: $input) ${runEvent} }`;
const runQuery = `query ($id: ID!) { run(id: $id) {
  status incompleteReason error { code } usage { inputTokens outputTokens }
  message { id content } toolCalls { id name arguments } citations { answerStart answerEnd name url }
} }`;
const responseQuery = `query ($id: ID!) { response(id: $id) ${wholeRun} }`;

async function graphql(who: Person, query: string, variables: Readonly<Record<string, unknown>>): Promise<Wire> {
  const { data, errors } = await who.graphql(query, variables);
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

async function overSocket(who: Person, body: Wire): Promise<Wire> {
  const headers = { authorization: `Bearer ${who.key}` };
  const socket = new WebSocket(who.url.replace('http', 'ws') + responses, { headers } as never);
  const events: Wire[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('error', () => reject(new Error('the socket broke')));
    socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'response.create', ...body })));
    socket.addEventListener('message', ({ data }) => {
      events.push(JSON.parse(String(data)));
      if (/^response\.(completed|failed|incomplete)$|^error$/.test(events.at(-1).type)) resolve();
    });
  });
  socket.close();
  return events.at(-1).type === 'error' ? { ...events.at(-1), output: [] } : walk(events);
}

function lastResponse(frames: readonly SseFrame[]): Wire {
  return walk(eventsOf(frames));
}

/** GraphQL has the members of REST in camelCase; JSON values stay as they are. */
function _camel(body: Wire): Wire {
  const { messages, response_format: responseFormat, previous_response_id: previousResponseId, ...same } = body;
  return {
    ...same,
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(previousResponseId === undefined ? {} : { previousResponseId }),
    ...(messages === undefined ? {} : { messages: messages.map(camelMessage) }),
  };
}

function camelMessage({ tool_calls: toolCalls, tool_call_id: toolCallId, ...message }: Wire): Wire {
  return { ...message, ...(toolCalls === undefined ? {} : { toolCalls }), ...(toolCallId === undefined ? {} : { toolCallId }) };
}
