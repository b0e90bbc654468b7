import { expect } from 'vitest';
import { graphqlCompletion } from '../apis/graphql-inputs.ts';
import type { Person } from '../make.ts';
import type { TestBench } from '../service.ts';
import { graphqlTool } from './graphql-tool.ts';

/** What one API answered. */
export interface ApiAnswer {
  readonly text: string;
  /** What the answer cites: an address, or the name of a file. */
  readonly cited: readonly string[];
  /** What tools of the service made: the addresses that the caller is given. */
  readonly files: readonly string[];
}

export interface ApiQuestion {
  /** In the spelling of the responses format; undefined asks without a tool. */
  readonly tool: Readonly<Record<string, unknown>> | undefined;
  readonly input: string;
  readonly model: string;
  /** For the regular chat API. */
  readonly agentId: string;
}

type Ask = (who: Person, question: ApiQuestion, bench: TestBench) => Promise<ApiAnswer>;

/** Every API that runs a model, streamed and whole, each as a function that asks it one question. */
export const everyApi: readonly (readonly [string, Ask])[] = [
  ['responses', (who, question) => responses(who, question)],
  ['responses, streamed', (who, question) => responsesStream(who, question)],
  ['completions', (who, question) => completions(who, question)],
  ['completions, streamed', (who, question) => completionsStream(who, question)],
  ['chats', (who, question, { make }) => chats(who, question, make)],
  ['chats, streamed', (who, question, { make }) => chatsStream(who, question, make)],
  ['GraphQL', (who, question) => graphql(who, question)],
  ['GraphQL, streamed', (who, question) => graphqlStream(who, question)],
];

/** GraphQL has an API of its own for chats, too. */
export const chatsOnGraphql: readonly (readonly [string, Ask])[] = [
  ['chats on GraphQL', (who, question, { make }) => graphqlChat(who, question, make)],
  ['chats on GraphQL, streamed', (who, question, { make }) => graphqlChatStream(who, question, make)],
];

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found is what is checked.
type Body = any;

const toolsOf = ({ tool }: ApiQuestion) => (tool === undefined ? [] : [tool]);
const citedBy = ({ url, filename }: Body): string => url ?? filename;

function ofResponse({ status, output }: Body): ApiAnswer {
  expect(status).toBe('completed');
  const parts = output.filter(({ type }: Body) => type === 'message').flatMap(({ content }: Body) => content);
  return {
    text: parts.map(({ text }: Body) => text).join(''),
    cited: parts.flatMap(({ annotations }: Body) => annotations.map(citedBy)),
    files: output.flatMap(filesOfItem),
  };
}

function filesOfItem({ type, output, files }: Body): readonly string[] {
  const parts = type === 'server_tool_call_output' && Array.isArray(output) ? output : (files ?? []);
  return parts.flatMap((part: Body) => part.image_url ?? part.file_url ?? []);
}

async function responses(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const { model, input } = question;
  const { status, body } = await who.post('/api/v2/responses', { model, input, tools: toolsOf(question) });
  expect(status, JSON.stringify(body)).toBe(200);
  return ofResponse(body);
}

async function responsesStream(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const { model, input } = question;
  const frames = await who.stream('/api/v2/responses', { model, input, tools: toolsOf(question), stream: true });
  const events = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
  const last = ofResponse(events.at(-1).response);
  const told = events
    .filter(({ type }) => type === 'response.output_text.annotation.added')
    .map(({ annotation }) => citedBy(annotation));
  expect(told).toEqual(last.cited);
  const done = events.filter(({ type }) => type === 'response.output_item.done');
  expect(done.flatMap(({ item }) => filesOfItem(item))).toEqual(last.files);
  return last;
}

const asCompletion = (question: ApiQuestion) => ({
  ...{ model: question.model, messages: [{ role: 'user', content: question.input }], generateCitations: true },
  tools: toolsOf(question),
});
const madeIn = ({ images, files }: Body): readonly string[] => [
  ...(images ?? []).map((image: Body) => (image.image_url ?? image.imageUrl).url),
  ...(files ?? []).map(({ url }: Body) => url),
];

async function completions(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const { status, body } = await who.post('/api/v1/chat/completions', asCompletion(question));
  expect(status, JSON.stringify(body)).toBe(200);
  const [{ message, finish_reason: finish }] = body.choices;
  expect(finish).toBe('stop');
  const cited = (message.annotations ?? []).map((one: Body) => one.url_citation.url);
  return { text: message.content, cited, files: madeIn(message) };
}

async function completionsStream(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const frames = await who.stream('/api/v1/chat/completions', { ...asCompletion(question), stream: true });
  const deltas = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0].delta);
  return {
    text: deltas.map(({ content }) => content ?? '').join(''),
    cited: deltas.flatMap(({ annotations = [] }) => annotations.map((one: Body) => one.url_citation.url)),
    files: deltas.flatMap(madeIn),
  };
}

const newChat = async (who: Person, { agentId }: ApiQuestion, make: TestBench['make']): Promise<string> =>
  (await make.chat({ owner: who, agentId })).id;
const messagesOf = (chatId: string) => `/api/v1/chats/${chatId}/messages`;
const urls = (list: Body): readonly string[] => (list ?? []).map(({ url }: Body) => url);

async function chats(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const path = messagesOf(await newChat(who, question, make));
  const { status, body } = await who.post(path, { prompt: question.input, tools: toolsOf(question) });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.status).toBe('completed');
  return { text: body.message.content, cited: urls(body.citations), files: urls(body.files) };
}

async function chatsStream(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const path = messagesOf(await newChat(who, question, make));
  const frames = await who.stream(path, { prompt: question.input, tools: toolsOf(question), stream: true });
  const events = frames.map(({ data }) => JSON.parse(data));
  const whole = events.findLast(({ type }) => type === 'message.completed');
  return { text: whole.content, cited: urls(whole.citations), files: events.flatMap(({ files }) => urls(files)) };
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
/** As v1 and GraphQL spell members. */
export const inCamelCase = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), inCamelCase(member)]));
const asInput = (question: ApiQuestion) => graphqlCompletion(asCompletion(question));

async function graphql(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const mutation =
    'mutation ($input: CompletionInput!) { createCompletion(input: $input) { text citations { url } files { url } } }';
  const data = await who.ask(mutation, { input: asInput(question) });
  const { text, citations, files } = data.createCompletion;
  return { text, cited: urls(citations), files: urls(files) };
}

async function graphqlStream(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) {
    ... on TextDelta { delta }
    ... on CitationAdded { citation { url } }
    ... on RunEnded { run { status error { message } files { url } } }
  } }`;
  const events = (await Array.fromAsync(who.subscribe(query, { input: asInput(question) }))).map(
    ({ data }) => data.completionEvents,
  );
  expect(events.at(-1).run).toMatchObject({ status: 'COMPLETED', error: null });
  return {
    text: events.map(({ delta }) => delta ?? '').join(''),
    cited: events.flatMap(({ citation }) => (citation === undefined ? [] : [citation.url])),
    files: urls(events.at(-1).run.files),
  };
}

const asMessage = async (who: Person, question: ApiQuestion, make: TestBench['make']) => ({
  chatId: await newChat(who, question, make),
  input: { prompt: { text: question.input }, tools: toolsOf(question).map(graphqlTool) },
});

async function graphqlChat(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const variables = await asMessage(who, question, make);
  const sending = 'mutation ($chatId: ID!, $input: SendMessageInput!) { sendMessage(chatId: $chatId, input: $input) { id } }';
  const { data, errors } = await who.graphql(sending, variables);
  expect(errors).toBeUndefined();
  const { id } = data.sendMessage;
  await Array.fromAsync(who.subscribe('subscription ($id: ID!) { runEvents(runId: $id) { sequence } }', { id }));
  const query = `query ($id: ID!, $chatId: ID!) {
    run(id: $id) { status message { content } citations { url } }
    chat(id: $chatId) { files { nodes { url } } }
  }`;
  const read = await who.graphql(query, { id, chatId: variables.chatId });
  expect(read.errors).toBeUndefined();
  const { run, chat } = read.data;
  expect(run.status).toBe('COMPLETED');
  return { text: run.message.content, cited: urls(run.citations), files: urls(chat.files.nodes) };
}

async function graphqlChatStream(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const query = `subscription ($chatId: ID!, $input: SendMessageInput!) {
    messageEvents(chatId: $chatId, input: $input) {
      ... on TextDelta { delta }
      ... on CitationAdded { citation { url } }
      ... on ItemDone { item { ...Shown } }
      ... on RunEnded { run { status output { ...Shown } } }
    }
  }
  fragment Shown on RunItem {
    ... on MessageItem { citations { url } } ... on ToolOutputItem { files { url } } ... on McpCallItem { files { url } }
  }`;
  const events = await Array.fromAsync(
    who.subscribe(query, await asMessage(who, question, make)),
    ({ data }) => data.messageEvents,
  );
  const { status, output } = events.at(-1).run;
  expect(status).toBe('COMPLETED');
  const answer: ApiAnswer = {
    text: events.map(({ delta }) => delta ?? '').join(''),
    cited: events.flatMap(({ citation }) => (citation === undefined ? [] : [citation.url])),
    files: events.flatMap(({ item }) => urls(item?.files)),
  };
  expect(output.flatMap((item: Body) => urls(item.citations))).toEqual(answer.cited);
  expect(output.flatMap((item: Body) => urls(item.files))).toEqual(answer.files);
  return answer;
}
