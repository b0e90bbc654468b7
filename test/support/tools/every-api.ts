import { expect } from 'vitest';
import type { Person } from '../make.ts';
import type { TestBench } from '../service.ts';

/** What one API answered. */
export interface ApiAnswer {
  readonly text: string;
  /** What the answer cites: an address, or the name of a file. */
  readonly cited: readonly string[];
}

export interface ApiQuestion {
  /** Tools in the spelling of the responses format. */
  readonly tool: Readonly<Record<string, unknown>>;
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

// biome-ignore lint/suspicious/noExplicitAny: bodies of any shape; what is found is what is checked.
type Body = any;

const citedBy = ({ url, filename }: Body): string => url ?? filename;

function ofResponse({ status, output }: Body): ApiAnswer {
  expect(status).toBe('completed');
  const parts = output.filter(({ type }: Body) => type === 'message').flatMap(({ content }: Body) => content);
  return {
    text: parts.map(({ text }: Body) => text).join(''),
    cited: parts.flatMap(({ annotations }: Body) => annotations.map(citedBy)),
  };
}

async function responses(who: Person, { tool, input, model }: ApiQuestion): Promise<ApiAnswer> {
  const { status, body } = await who.post('/api/v2/responses', { model, input, tools: [tool] });
  expect(status, JSON.stringify(body)).toBe(200);
  return ofResponse(body);
}

async function responsesStream(who: Person, { tool, input, model }: ApiQuestion): Promise<ApiAnswer> {
  const frames = await who.stream('/api/v2/responses', { model, input, tools: [tool], stream: true });
  const events = frames.slice(0, -1).map(({ data }) => JSON.parse(data));
  const last = ofResponse(events.at(-1).response);
  const told = events
    .filter(({ type }) => type === 'response.output_text.annotation.added')
    .map(({ annotation }) => citedBy(annotation));
  expect(told).toEqual(last.cited);
  return last;
}

const asCompletion = ({ tool, input, model }: ApiQuestion) => ({
  ...{ model, messages: [{ role: 'user', content: input }], tools: [tool], generateCitations: true },
});

async function completions(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const { status, body } = await who.post('/api/v1/chat/completions', asCompletion(question));
  expect(status, JSON.stringify(body)).toBe(200);
  const [{ message, finish_reason: finish }] = body.choices;
  expect(finish).toBe('stop');
  return { text: message.content, cited: (message.annotations ?? []).map((one: Body) => one.url_citation.url) };
}

async function completionsStream(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const frames = await who.stream('/api/v1/chat/completions', { ...asCompletion(question), stream: true });
  const deltas = frames.slice(0, -1).map(({ data }) => JSON.parse(data).choices[0].delta);
  return {
    text: deltas.map(({ content }) => content ?? '').join(''),
    cited: deltas.flatMap(({ annotations = [] }) => annotations.map((one: Body) => one.url_citation.url)),
  };
}

async function newChat(who: Person, { agentId }: ApiQuestion, make: TestBench['make']): Promise<string> {
  return `/api/v1/chats/${(await make.chat({ owner: who, agentId })).id}/messages`;
}

async function chats(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const path = await newChat(who, question, make);
  const { status, body } = await who.post(path, { prompt: question.input, tools: [inCamelCase(question.tool)] });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.status).toBe('completed');
  return { text: body.message.content, cited: (body.citations ?? []).map(({ url }: Body) => url) };
}

async function chatsStream(who: Person, question: ApiQuestion, make: TestBench['make']): Promise<ApiAnswer> {
  const path = await newChat(who, question, make);
  const frames = await who.stream(path, { prompt: question.input, tools: [inCamelCase(question.tool)], stream: true });
  const events = frames.map(({ data }) => JSON.parse(data));
  const whole = events.findLast(({ type }) => type === 'message.completed');
  return { text: whole.content, cited: whole.citations.map(({ url }: Body) => url) };
}

const camel = (name: string) => name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
/** As v1 and GraphQL spell members. */
export const inCamelCase = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), inCamelCase(member)]));
const asInput = (question: ApiQuestion) => {
  const given = asCompletion(question);
  return { ...given, tools: given.tools.map(inCamelCase) };
};
const annotation = '{ type urlCitation { url title } }';

async function graphql(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const mutation = `mutation ($input: CompletionInput!) { createCompletion(input: $input) { choices { message { content annotations ${annotation} } } } }`;
  const { data, errors } = await who.graphql(mutation, { input: asInput(question) });
  expect(errors).toBeUndefined();
  const [{ message }] = data.createCompletion.choices;
  return { text: message.content, cited: (message.annotations ?? []).map((one: Body) => one.urlCitation.url) };
}

async function graphqlStream(who: Person, question: ApiQuestion): Promise<ApiAnswer> {
  const query = `subscription ($input: CompletionInput!) { completionEvents(input: $input) { delta annotation ${annotation} finishReason error { message } } }`;
  const events = (await Array.fromAsync(who.subscribe(query, { input: asInput(question) }))).map(
    ({ data }) => data.completionEvents,
  );
  expect(events.at(-1)).toMatchObject({ finishReason: 'stop', error: null });
  return {
    text: events.map(({ delta }) => delta ?? '').join(''),
    cited: events.flatMap((event) => (event.annotation === null ? [] : [event.annotation.urlCitation.url])),
  };
}
