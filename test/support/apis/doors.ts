import type { Person } from '../make.ts';
import { type Answer, failed, type Wire } from '../runs/answers.ts';
import type { Ask, Question } from './questions.ts';

/** The doors of other protocols to the same agents: how each asks, and what its answer says in common words. */
export const doors: Readonly<Record<string, Ask>> = {
  message: (who, question) => askMessage(question, async (body) => messageAnswer((await who.post(messages, body)).body)),
  'message stream': (who, question) =>
    askMessage(question, async (body) => {
      const reply = await who.fetch('POST', messages, { ...body, stream: true }, {});
      const text = await reply.text();
      if (!reply.ok) return messageAnswer(JSON.parse(text));
      return messageAnswer(walkMessage(eventsIn(text)));
    }),
  'AG-UI run': (who, question) => askAgUi(who, question),
  'A2A task': (who, question) => askA2a(who, question),
};

const messages = '/api/v1/messages';
const eventsIn = (text: string): readonly Wire[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));

async function askMessage(question: Question, ask: (body: Wire) => Promise<Answer & { readonly content?: Wire }>) {
  const { model, text, image, functions, output } = question;
  const source =
    image?.startsWith('data:') === true
      ? { type: 'base64', media_type: 'image/png', data: image.split(',')[1] }
      : { type: 'url', url: image };
  const content =
    image === undefined
      ? text
      : [
          { type: 'text', text },
          { type: 'image', source },
        ];
  const body = {
    model,
    max_tokens: 50,
    messages: [{ role: 'user', content }] as object[],
    ...(functions === undefined
      ? {}
      : { tools: functions.map(({ parameters, ...about }) => ({ ...about, input_schema: parameters })) }),
  };
  const { content: said, ...first } = await ask(body);
  if (output === undefined) return [first];
  const results = first.calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: output }));
  const turns = [...body.messages, { role: 'assistant', content: said }, { role: 'user', content: results }];
  const { content: _said, ...second } = await ask({ ...body, messages: turns });
  return [first, second];
}

/** The message that the events of a stream add up to. */
function walkMessage(events: readonly Wire[]): Wire {
  let message: Wire = {};
  for (const event of events) {
    if (event.type === 'error') return event;
    if (event.type === 'message_start') message = structuredClone(event.message);
    if (event.type === 'message_delta') message = { ...message, ...event.delta, usage: event.usage };
    if (event.type === 'content_block_start') message.content[event.index] = { ...event.content_block, json: '' };
    if (event.type !== 'content_block_delta') continue;
    const block = message.content[event.index];
    const { type, text, partial_json: json, citation, thinking, signature } = event.delta;
    if (type === 'text_delta') block.text += text;
    if (type === 'input_json_delta') block.json += json;
    if (type === 'thinking_delta') block.thinking += thinking;
    if (type === 'signature_delta') block.signature = signature;
    if (type === 'citations_delta') block.citations = [...(block.citations ?? []), citation];
  }
  for (const block of message.content) {
    if (block.type === 'tool_use') block.input = JSON.parse(block.json);
    delete block.json;
  }
  return message;
}

const errorCodes: Readonly<Record<string, string>> = {
  api_error: 'upstream_error',
  rate_limit_error: 'rate_limit_exceeded',
  invalid_request_error: 'context_length_exceeded',
};
const finishes: Readonly<Record<string, Answer['finish']>> = { end_turn: 'stop', max_tokens: 'length', tool_use: 'tool_calls' };

function messageAnswer(reply: Wire): Answer & { readonly content?: Wire } {
  if (reply.type === 'error') return failed(errorCodes[reply.error.type] ?? reply.error.type);
  const { content, usage, stop_reason: reason, stop_details: details } = reply;
  let text = '';
  const citations: Wire[] = [];
  for (const block of content) {
    if (block.type !== 'text') continue;
    for (const { source, url, title } of block.citations ?? []) {
      const marker = /\[\d+\]/.exec(block.text);
      const start = text.length + (marker?.index ?? 0);
      citations.push({ start, end: start + (marker?.[0].length ?? 0), title, url: source ?? url });
    }
    text += block.text;
  }
  const refused: Answer['finish'] | false = reason === 'refusal' && (details.explanation === null ? 'content_filter' : 'stop');
  return {
    text,
    calls: content.flatMap(({ type, id, name, input }: Wire) =>
      type === 'tool_use' ? [{ id, name, arguments: JSON.stringify(input) }] : [],
    ),
    finish: refused === false ? (finishes[reason] ?? 'error') : refused,
    usage: [usage.input_tokens, usage.output_tokens],
    citations,
    error: null,
    content,
  };
}

async function askAgUi(who: Person, question: Question): Promise<readonly Answer[]> {
  const { model, agentOfModel, text, image, functions = [], output } = question;
  const path = `/api/v1/ag-ui/${model.startsWith('ai_') ? model : agentOfModel}`;
  const ask = async (messages: readonly object[]) => {
    const reply = await who.fetch('POST', path, { threadId: 't', runId: 'r', messages, tools: functions }, {});
    const body = await reply.text();
    return reply.ok ? agUiAnswer(eventsIn(body)) : failed(JSON.parse(body).error.code);
  };
  const picture = { type: 'image', source: { type: 'url', value: image } };
  const asked = { role: 'user', content: image === undefined ? text : [{ type: 'text', text }, picture] };
  const first = await ask([asked]);
  if (output === undefined) return [first];
  const toolCalls = first.calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
  const results = first.calls.map(({ id }) => ({ role: 'tool', toolCallId: id, content: output }));
  return [first, await ask([asked, { role: 'assistant', content: first.text, toolCalls }, ...results])];
}

function agUiAnswer(events: readonly Wire[]): Answer {
  const last = events.at(-1);
  const deltasOf = (type: string, id?: string) =>
    events
      .flatMap((event) => (event.type === type && (id === undefined || event.toolCallId === id) ? [event.delta] : []))
      .join('');
  const text = deltasOf('TEXT_MESSAGE_CONTENT');
  if (last.type === 'RUN_ERROR') return failed(last.code);
  const calls = events.flatMap(({ type, toolCallId: id, toolCallName: name }) =>
    type === 'TOOL_CALL_START' ? [{ id, name, arguments: deltasOf('TOOL_CALL_ARGS', id) }] : [],
  );
  const reasons: Readonly<Record<string, Answer['finish']>> = { max_output_tokens: 'length', content_filter: 'content_filter' };
  const [usage] = last.usage;
  return {
    text,
    calls,
    finish: reasons[last.result?.incompleteReason] ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: [usage.inputTokens, usage.outputTokens],
    citations: events.flatMap(({ name, value }) =>
      name === 'citation' ? [{ start: value.start_index, end: value.end_index, title: value.title, url: value.url }] : [],
    ),
    error: null,
  };
}

async function askA2a(who: Person, question: Question): Promise<readonly Answer[]> {
  const { model, agentOfModel, text, image, functions, output } = question;
  const path = `/a2a/${model.startsWith('ai_') ? model : agentOfModel}`;
  const metadata = functions === undefined ? {} : { tools: functions };
  const send = async (parts: readonly object[], more: object = {}): Promise<Wire> => {
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, ...more };
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, metadata } };
    return JSON.parse(await (await who.fetch('POST', path, body, { 'a2a-version': '1.0' })).text());
  };
  const picture = image?.startsWith('data:') === true ? { raw: image.split(',')[1] } : { url: image };
  const first = await send(image === undefined ? [{ text }] : [{ text }, { ...picture, mediaType: 'image/png' }]);
  const firstAnswer = taskAnswer(first, 0, [0, 0]);
  if (output === undefined) return [firstAnswer];
  const { id: taskId, artifacts } = first.result.task;
  const answers = firstAnswer.calls.map(({ id: callId }) => ({ data: { callId, output } }));
  const second = await send(answers, { taskId });
  return [firstAnswer, taskAnswer(second, artifacts.length, firstAnswer.usage ?? [0, 0])];
}

/** @param artifactsBefore  those of the answer before, as well as the tokens. */
function taskAnswer(
  { error, result }: Wire,
  artifactsBefore: number,
  [inputBefore, outputBefore]: readonly [number, number],
): Answer {
  if (error !== undefined) return failed(error.data[0].reason.toLowerCase());
  const { status, artifacts, metadata = {} } = result.task;
  const parts = artifacts.slice(artifactsBefore).flatMap((artifact: Wire) => (artifact.name === 'answer' ? artifact.parts : []));
  if (status.state === 'TASK_STATE_FAILED') return failed(status.message.parts[0].metadata.code);
  const calls = status.state === 'TASK_STATE_INPUT_REQUIRED' ? status.message.parts.map(({ data }: Wire) => data) : [];
  const reasons: Readonly<Record<string, Answer['finish']>> = { max_output_tokens: 'length', content_filter: 'content_filter' };
  const { inputTokens, outputTokens } = metadata.usage;
  return {
    text: parts.map(({ text = '' }: Wire) => text).join(''),
    calls: calls.map(({ callId: id, name, arguments: args }: Wire) => ({ id, name, arguments: args })),
    finish: reasons[metadata.incompleteReason] ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: [inputTokens - inputBefore, outputTokens - outputBefore],
    citations: parts
      .flatMap(({ data }: Wire) => data?.citations ?? [])
      .map((one: Wire) => ({ start: one.start_index, end: one.end_index, title: one.title, url: one.url })),
    error: null,
  };
}
