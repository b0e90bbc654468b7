import { expect } from 'vitest';
import type { TestClient } from '../client.ts';

/** An answer in a form that all APIs share. Citations and calls are in the terms of the completions format. */
export interface Answer {
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finish: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error';
  /** Input and output tokens. */
  readonly usage: readonly [number, number] | null;
  readonly citations: readonly { readonly start: number; readonly end: number; readonly title: string; readonly url: string }[];
  readonly error: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of every API, read member by member.
export type Wire = any;

export function completionAnswer({ choices, usage, error }: Wire): Answer {
  if (error !== undefined) return failed(error.code);
  const [{ message, finish_reason: finish }] = choices;
  const calls = (message.tool_calls ?? []).map(({ id, function: called }: Wire) => ({ id, ...called }));
  const citations = (message.annotations ?? []).map(annotation);
  return {
    text: message.refusal ?? message.content ?? '',
    calls,
    finish,
    usage: pair(usage, 'prompt_tokens', 'completion_tokens'),
    citations,
    error: null,
  };
}

export function chunksAnswer(chunks: readonly Wire[]): Answer {
  const message: Wire = { content: '', tool_calls: [], annotations: [] };
  let [finish, usage, error]: Wire[] = [null, null, undefined];
  for (const chunk of chunks) {
    error ??= chunk.error;
    usage = chunk.usage ?? usage;
    const [choice] = chunk.choices ?? [];
    if (choice === undefined) continue;
    finish = choice.finish_reason ?? finish;
    message.content += choice.delta.refusal ?? choice.delta.content ?? '';
    message.annotations.push(...(choice.delta.annotations ?? []));
    for (const { index, id, function: called } of choice.delta.tool_calls ?? []) {
      message.tool_calls[index] ??= { id, function: { name: called.name, arguments: '' } };
      message.tool_calls[index].function.arguments += called.arguments;
    }
  }
  if (error !== undefined) return failed(error.code, message.content);
  return completionAnswer({ choices: [{ message, finish_reason: finish }], usage });
}

export function chatAnswer(reply: Wire): Answer & { readonly messageId?: string } {
  const { status, message, toolCalls, citations, incompleteReason, error, usage, systemMessageId } = reply;
  if (typeof error === 'object' && error !== null) return failed(error.code, message?.content ?? '');
  const calls = toolCalls ?? [];
  return {
    text: message?.content ?? '',
    calls,
    finish: finishOf(status, incompleteReason, calls.length > 0),
    usage: pair(usage, 'inputTokens', 'outputTokens'),
    citations: (citations ?? []).map(citation),
    error: null,
    ...(typeof systemMessageId === 'string' ? { messageId: systemMessageId } : {}),
  };
}

export function chatFramesAnswer(frames: readonly Wire[]): Answer & { readonly messageId?: string } {
  const of = (type: string) => frames.filter((frame) => frame.type === type);
  const content = of('message.delta')
    .map(({ delta }) => delta)
    .join('');
  const [call] = of('tool.call');
  const end = frames.at(-2);
  const citations = of('citation').map((frame) => frame.citation);
  return chatAnswer({
    ...end,
    message: { content },
    toolCalls: call?.toolCalls,
    systemMessageId: call?.systemMessageId,
    citations,
  });
}

/** The run of a list of GraphQL events, in the form of a response. */
export function eventsResponse(events: readonly Wire[]): Wire {
  const response = runResponse(events.at(-1).run);
  expect(events.map(({ delta }) => delta ?? '').join('')).toBe(textsOf(response.output));
  return response;
}

/** A run of GraphQL in the form of a response. */
export function runResponse(run: Wire): Wire {
  const output = run.output.map(({ __typename, text, citations, callId, ...call }: Wire) => {
    if (__typename !== 'MessageItem') {
      return { type: __typename === 'FunctionCallItem' ? 'function_call' : __typename, call_id: callId, ...call };
    }
    const annotations = citations.map(({ answerStart, answerEnd, name, url }: Wire) => ({
      start_index: answerStart,
      end_index: answerEnd,
      title: name,
      url,
    }));
    return { type: 'message', content: [{ text, annotations }] };
  });
  const { id, status, incompleteReason: reason, error, usage } = run;
  return {
    id,
    status: status.toLowerCase(),
    error,
    incomplete_details: { reason: reason?.toLowerCase() ?? null },
    output,
    usage: usage === null ? null : { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
  };
}

export function responseAnswer({ status, incomplete_details: details, error, output, usage }: Wire): Answer {
  if (error !== undefined && error !== null) return failed(error.code, textsOf(output ?? []));
  const calls = output
    .filter(({ type }: Wire) => type === 'function_call')
    .map(({ call_id: id, name, arguments: args }: Wire) => ({ id, name, arguments: args }));
  const annotations = output.flatMap((item: Wire) => (item.type === 'message' ? (item.content[0].annotations ?? []) : []));
  return {
    text: textsOf(output),
    calls,
    finish: finishOf(status, details?.reason ?? null, calls.length > 0),
    usage: pair(usage, 'input_tokens', 'output_tokens'),
    citations: annotations.map((given: Wire) => annotation({ url_citation: given })),
    error: null,
  };
}

/** The answer of a failed request. */
export function failed(code: string, text = ''): Answer {
  return { text, calls: [], finish: 'error', usage: null, citations: [], error: code.toLowerCase() };
}

function textsOf(output: readonly Wire[]): string {
  return output.flatMap((item) => (item.type === 'message' ? [item.content[0].text ?? item.content[0].refusal] : [])).join('');
}

function finishOf(status: string, reason: string | null, hasCalls: boolean): Answer['finish'] {
  expect(['completed', 'incomplete']).toContain(status);
  if (reason === 'max_output_tokens') return 'length';
  if (reason === 'content_filter') return 'content_filter';
  return hasCalls ? 'tool_calls' : 'stop';
}

function pair(usage: Wire, input: string, output: string): readonly [number, number] | null {
  return usage === null ? null : [usage[input], usage[output]];
}

function annotation({ url_citation: { start_index, end_index, title, url } }: Wire): Answer['citations'][number] {
  return { start: start_index, end: end_index, title, url };
}

function citation({ answerStart, answerEnd, name, url }: Wire): Answer['citations'][number] {
  return { start: answerStart, end: answerEnd, title: name, url };
}

/** Each reading of an answer signs its links anew. */
export function unsigned(url: string): string {
  return url.replace(/[?]link=[\w.-]+$/, '');
}

export type Asked = { readonly role: string; readonly content: unknown };

/** Messages that a model got, without the date: only messages of chats have one, so only their models are told it. */
export function withoutDate<T extends Asked>(messages: readonly T[]): readonly T[] {
  return messages.flatMap((message) => {
    if (message.role !== 'system' || typeof message.content !== 'string') return [message];
    const content = message.content.replace(/(^|\n\n)Current date: \S+ \(\w+\), \S+ UTC(?=\n\n|$)/, '');
    return content === '' ? [] : [{ ...message, content }];
  });
}

/** What was said in a chat, such as `user: Hello`. */
export async function transcriptOf(person: TestClient, chatId: string): Promise<readonly string[]> {
  const { body } = await person.get(`/api/v1/chats/${chatId}`);
  return body.messages.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
}
