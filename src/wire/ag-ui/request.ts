import { z } from 'zod';
import type { FaultNotes } from '../../entities/ground/fault-notes.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { isObject, membersOf } from '../../lib/json/json.ts';
import { readWire } from '../ground/read.ts';
import type { FormReading, RequestForm } from '../ground/request-form.ts';
import { choiceByType, closedComponent, constant, described, list, oneOfTexts, record, text } from '../ground/schema.ts';
import { createStateTool, stateFunction } from './state.ts';

/** The AG-UI protocol: the body of a run, read into the input of a completion. */

const itemsMax = 100_000;
const anything = (description: string) => described<unknown>({ description }).nullish();
const about = {
  id: text('Its id.').nullish(),
  name: text('Has no effect.').nullish(),
  metadata: anything('Has no effect.'),
  subagentRunId: text('Has no effect.').nullish(),
};
const source = choiceByType('Where it is.', [
  closedComponent('AgUiDataSource', 'In the request.', {
    type: constant('data'),
    value: text('The bytes in base64.').regex(/^[A-Za-z0-9+/=\s]+$/, 'must be base64'),
    mimeType: text('Its type.').regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type'),
  }),
  closedComponent('AgUiUrlSource', 'At an address, which the service fetches.', {
    type: constant('url'),
    value: text('The address.').regex(/^(?:https?:\/\/|data:)\S+$/i, 'must be an http, https or data address'),
    mimeType: text('Its type.').nullish(),
  }),
  closedComponent('AgUiFileSource', 'Among the files of the caller.', {
    type: constant('file'),
    value: text('The id of the file.').min(1).max(200),
    provider: text('Has no effect.').nullish(),
    mimeType: text('Its type.').nullish(),
  }),
]);
const partOptions = { id: text('Its id.').nullish(), metadata: anything('Has no effect.') };
const part = choiceByType('A part of a message.', [
  closedComponent('AgUiTextPart', 'A text.', { type: constant('text'), text: text('The text.'), ...partOptions }),
  closedComponent('AgUiImagePart', 'An image.', { type: constant('image'), source, ...partOptions }),
  closedComponent('AgUiDocumentPart', 'A document. The model is given the text in it.', {
    type: constant('document'),
    source,
    ...partOptions,
  }),
]);
const contentRule = 'must be a string or an array of parts';
const parts = z.array(part).max(itemsMax);
const content = z.union([z.string(), parts], contentRule).meta({ description: 'A text, or parts.' });
const userContent = z
  .union([z.string(), parts.min(1, 'must hold at least one part')], contentRule)
  .meta({ description: 'A text, or parts.' });
const toolCall = closedComponent('AgUiToolCall', 'A call that an earlier answer asked for.', {
  id: text('The id that its result refers to.').min(1),
  type: constant('function'),
  function: closedComponent('AgUiFunctionCall', 'What is called.', {
    name: text('The tool.'),
    arguments: text('Its arguments as JSON text.'),
  }),
  encryptedValue: text('Has no effect: thoughts have messages of their own.').nullish(),
  metadata: anything('Has no effect.'),
});
const message = z.discriminatedUnion('role', [
  closedComponent('AgUiUserMessage', 'What the user says.', { role: constant('user'), content: userContent, ...about }),
  closedComponent('AgUiSystemMessage', 'What the model is instructed to do.', {
    role: constant('system'),
    content: text('The text.'),
    ...about,
  }),
  closedComponent('AgUiDeveloperMessage', 'The same.', { role: constant('developer'), content: text('The text.'), ...about }),
  closedComponent('AgUiAssistantMessage', 'An earlier answer.', {
    role: constant('assistant'),
    content: content.nullish(),
    toolCalls: list('Calls that it asked for.', toolCall).max(itemsMax).nullish(),
    encryptedValue: text('Has no effect: thoughts have messages of their own.').nullish(),
    ...about,
  }),
  closedComponent('AgUiToolMessage', 'What a call gave.', {
    role: constant('tool'),
    content,
    toolCallId: text('The call.').min(1),
    error: text('Why it failed.').nullish(),
    encryptedValue: text('Has no effect.').nullish(),
    ...about,
  }),
  closedComponent('AgUiReasoningMessage', 'A thought of an earlier answer.', {
    role: constant('reasoning'),
    content: text('Its text.'),
    encryptedValue: text('What its provider demands to see again, as it was received.').nullish(),
    ...about,
  }),
]);
type Message = z.output<typeof message>;
type Part = z.output<typeof part>;

/** The versions that are spoken. */
const versions = /^1\.\d+(?:\.\d+)?$/;
export const agUiBody = closedComponent('AgUiRun', 'The input of a run in the AG-UI protocol.', {
  threadId: text('The conversation; the events repeat it.').min(1).max(500),
  runId: text('The run; the events repeat it.').min(1).max(500),
  protocolVersion: text('The version of the client.')
    .regex(versions, 'must be 1.0 or a later 1.x: that is spoken here')
    .nullish(),
  parentRunId: text('Has no effect.').nullish(),
  messages: list('The conversation so far.', message).max(itemsMax),
  tools: list(
    'What the client can run.',
    closedComponent('AgUiTool', 'A tool of the client.', {
      name: text('1 to 64 letters, digits, `_` or `-`; unique in the request.'),
      description: text('What it does: the model chooses by it.').nullish(),
      parameters: record('JSON Schema of the arguments.').nullish(),
      metadata: anything('Has no effect.'),
    }),
  )
    .max(1_000)
    .nullish(),
  context: list(
    'What the model is told of the application.',
    closedComponent('AgUiContext', 'A piece of it.', { description: text('What it is.'), value: text('What it says.') }),
  )
    .max(1_000)
    .nullish(),
  state: anything('The state of the application: the model reads it, and changes one that is an object with members.'),
  forwardedProps: anything('`secrets`: secrets for tools, by name. Anything else is a warning.'),
  resume: list(
    'Answers to the interrupts of the run before.',
    closedComponent('AgUiResume', 'An answer.', {
      interruptId: text('The interrupt.').min(1),
      status: oneOfTexts('Whether it was answered.', ['resolved', 'cancelled']),
      payload: described({
        description: '`{approved, arguments}`: false refuses; `arguments` replace those of the call. Without it: approved.',
      }).nullish(),
      metadata: anything('Has no effect.'),
    }),
  )
    .max(1_000)
    .nullish(),
});
type AgUiBody = z.output<typeof agUiBody>;

export const agUiForm: RequestForm = { schema: 'AgUiRun', read: readForm };

function readForm(body: unknown, faults: FaultNotes, { aiId }: Readonly<Record<string, string>>): FormReading | undefined {
  const request = readWire(agUiBody, body, '', faults);
  if (request === undefined) return undefined;
  const warnings: Warning[] = [];
  const { forwardedProps } = request;
  const props = membersOf(forwardedProps);
  if (forwardedProps !== undefined && forwardedProps !== null && !isObject(forwardedProps)) {
    const message = 'forwardedProps has no effect: it is no object, and only forwardedProps.secrets is read';
    warnings.push({ code: 'option_not_supported', message, param: 'forwardedProps' });
  }
  const others = Object.keys(props).filter((name) => name !== 'secrets');
  if (others.length > 0) {
    const message = `forwardedProps.${others[0]?.slice(0, 100)} has no effect: only forwardedProps.secrets is read`;
    warnings.push({ code: 'option_not_supported', message, param: 'forwardedProps' });
  }
  const { messages, places } = toMessages(request);
  const changeable = changeableState(request);
  const tools = (request.tools ?? []).map(({ name, description, parameters }) => ({
    type: 'function',
    function: {
      name,
      description: description ?? '',
      ...(parameters === null || parameters === undefined ? {} : { parameters }),
    },
  }));
  return {
    input: {
      model: aiId ?? '',
      messages,
      ...(tools.length === 0 ? {} : { tools }),
      ...(props.secrets === undefined ? {} : { secrets: props.secrets }),
      beyond: { warnings, ...(changeable === undefined ? {} : { ownTools: [createStateTool(changeable)] }) },
    },
    variables: {
      ...{ threadId: request.threadId, runId: request.runId, state: request.state, changesState: changeable !== undefined },
      // Clients from before 1.0 do not say which version they are.
      isBefore1: (request.protocolVersion ?? undefined) === undefined,
    },
    toPlace: (param) => placeOf(param, places),
  };
}

/** The state that the model may change: one with members, where the client has no tool of that name. */
function changeableState({ state, tools }: AgUiBody): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(state) || Object.keys(state).length === 0) return undefined;
  return tools?.some(({ name }) => name === stateFunction) === true ? undefined : state;
}

interface CompletionMessages {
  readonly messages: readonly object[];
  /** Of each in the request. */
  readonly places: readonly string[];
}

function toMessages({ messages, context, state, resume }: AgUiBody): CompletionMessages {
  const written: object[] = [];
  const places: string[] = [];
  const push = (completionMessage: object, place: string) => {
    written.push(completionMessage);
    places.push(place);
  };
  const facts = (context ?? []).map(({ description, value }) => `${description}: ${value}`);
  if (facts.length > 0) push({ role: 'system', content: facts.join('\n') }, 'context');
  if (isObject(state) ? Object.keys(state).length > 0 : (state ?? undefined) !== undefined)
    push({ role: 'system', content: `The state of the application, as JSON:\n${JSON.stringify(state)}` }, 'state');
  let thoughts: object[] = [];
  let thoughtText = '';
  const resumedCalls = new Set((resume ?? []).map(({ interruptId }) => interruptId));
  for (const [index, one] of messages.entries()) {
    const at = `messages[${index}]`;
    if (one.role === 'reasoning') {
      if (typeof one.encryptedValue === 'string') thoughts.push({ data: one.encryptedValue });
      else thoughtText += one.content;
      continue;
    }
    // CopilotKit shows the answer of a person as a result of the call. The same answer in `resume` says what it means.
    if (one.role === 'tool' && resumedCalls.has(one.toolCallId)) continue;
    const thinking = one.role === 'assistant' ? { reasoningDetails: thoughts, reasoningContent: thoughtText } : {};
    push({ ...toMessage(one), ...thinking }, at);
    thoughts = [];
    thoughtText = '';
  }
  for (const [index, { interruptId, status, payload }] of (resume ?? []).entries()) {
    const { approved, arguments: args } = membersOf(payload);
    const isRefused = status === 'cancelled' || approved === false || payload === false;
    const answer = { status: isRefused ? 'cancelled' : 'success', ...(isObject(args) ? { output: args } : {}) };
    push({ role: 'tool', toolCallId: interruptId, content: JSON.stringify(answer) }, `resume[${index}]`);
  }
  return { messages: written, places };
}

function toMessage(one: Exclude<Message, { readonly role: 'reasoning' }>): object {
  switch (one.role) {
    case 'user':
      return { role: 'user', content: typeof one.content === 'string' ? one.content : one.content.map(toPart) };
    case 'assistant': {
      const { content: said, toolCalls } = one;
      const calls = (toolCalls ?? []).map(({ id, function: called }) => ({ id, type: 'function', function: called }));
      const spoken = said === undefined || said === null ? null : textOf(said);
      return {
        role: 'assistant',
        content: calls.length > 0 && spoken === '' ? null : spoken,
        ...(calls.length === 0 ? {} : { toolCalls: calls }),
      };
    }
    case 'tool':
      return {
        role: 'tool',
        toolCallId: one.toolCallId,
        content: one.error === undefined || one.error === null ? textOf(one.content) : one.error,
        ...(one.error === undefined || one.error === null ? {} : { isError: true }),
      };
    default:
      return { role: 'system', content: one.content };
  }
}

function textOf(said: string | readonly Part[]): string {
  return typeof said === 'string' ? said : said.map((one) => (one.type === 'text' ? one.text : '')).join('\n');
}

function toPart(one: Part): object {
  if (one.type === 'text') return { type: 'text', text: one.text };
  const { source: place } = one;
  if (place.type === 'file') return { type: 'file', file: { file_id: place.value } };
  const url = place.type === 'url' ? place.value : `data:${place.mimeType};base64,${place.value.replace(/\s+/g, '')}`;
  if (one.type === 'image') return { type: 'image_url', image_url: { url } };
  return url.startsWith('data:') ? { type: 'file', file: { file_data: url, filename: 'document' } } : { type: 'url', url };
}

function placeOf(param: string, places: readonly string[]): string {
  const own = param.startsWith('input.') ? param.slice('input.'.length) : param;
  const place = /^messages\[(\d+)\](.*)$/s.exec(own);
  if (place !== null) {
    const at = places[Number(place[1])] ?? 'messages';
    if (at.startsWith('resume')) return `${at}.interruptId`;
    return `${at}${at.startsWith('messages') ? (place[2] ?? '').replace('tool_call_id', 'toolCallId') : ''}`;
  }
  if (own.startsWith('tools[')) return own.replace('.function', '');
  if (own.startsWith('secrets')) return `forwardedProps.${own}`;
  return own === 'model' ? 'aiId' : own;
}
