import { listDocuments, listImages } from '../../engine/runs/events/transcript.ts';
import { findFailure } from '../../entities/conversations/runs/answer.ts';
import type { RunEvent, RunItem, RunSnapshot } from '../../entities/conversations/runs/event.ts';
import { publicError } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import { isObject } from '../../lib/json/json.ts';
import { toAnnotation } from '../completions/reply.ts';
import {
  type EncoderContext,
  type StreamEncoder,
  type StreamEncoderFactory,
  shownWarnings,
  type Variables,
} from '../ground/encoder.ts';
import { component, described, oneOfTexts, text } from '../ground/schema.ts';
import { writtenThought } from '../ground/thoughts.ts';
import { changeState, stateFunction } from './state.ts';

/** The stream of the AG-UI protocol: the schema of its events, and their encoder from the events of a run. */

const eventTypes = [
  ...['RUN_STARTED', 'RUN_FINISHED', 'RUN_ERROR', 'STATE_SNAPSHOT', 'STATE_DELTA', 'STEP_STARTED', 'STEP_FINISHED', 'CUSTOM'],
  ...['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END'],
  ...['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END'],
  ...['REASONING_START', 'REASONING_MESSAGE_START', 'REASONING_MESSAGE_CONTENT', 'REASONING_MESSAGE_END'],
  ...['REASONING_ENCRYPTED_VALUE', 'REASONING_END'],
] as const;
component('AgUiEvent', 'An event of the AG-UI protocol. `CUSTOM` has the names `citation`, `files` and `warnings` here.', {
  type: oneOfTexts('What happened.', eventTypes as unknown as readonly [string, ...string[]]),
  threadId: text('Of the run.').optional(),
  runId: text('Of the run.').optional(),
  messageId: text('Of a text or a thought.').optional(),
  toolCallId: text('Of a call.').optional(),
  delta: described({ description: 'What is added: a text; of `STATE_DELTA` operations of JSON Patch (RFC 6902).' }).optional(),
  outcome: described({
    type: 'object',
    description:
      'How a run ended: `{type: "success"}`, or `{type: "interrupt", interrupts}` where calls of tools wait for approval: a run with `resume` answers them.',
  }).optional(),
  message: text('Why a run failed.').optional(),
});

export const agUiVersion = '1.0';

/** Frames of the AG-UI protocol. Text is inserted as the JSON literal in which it came. */
export const agUiEncoder: StreamEncoderFactory = (variables, context) => new AgUiEncoder(variables, context);

type Call = Extract<RunItem, { readonly type: 'function_call' }>;

class AgUiEncoder implements StreamEncoder {
  readonly #variables: Variables;
  readonly #context: EncoderContext;
  /** The message that is open: a text, or a thought. */
  #open: { readonly kind: 'text' | 'thought'; readonly id: string; readonly head: string } | undefined;
  #calls = new Map<string, Call>();
  /** The message that calls belong to. */
  #parent: string | undefined;
  #warnings: readonly Warning[] = [];
  /** As the client has it; undefined: the model cannot change it. */
  #state: Readonly<Record<string, unknown>> | undefined;
  /** Arguments of calls that change it, by the ids of the calls. */
  readonly #stateCalls = new Map<string, string>();
  #cancelled = '';
  #isOver = false;

  constructor(variables: Variables, context: EncoderContext) {
    this.#variables = variables;
    this.#context = context;
    if (variables.changesState === true && isObject(variables.state)) this.#state = variables.state;
  }

  encode(events: readonly RunEvent[]): string {
    let written = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta' && this.#open?.id === event.itemId)
        written += `${this.#open.head}${event.json}}\n\n`;
      else written += this.#other(event);
    }
    return written;
  }

  end(): string {
    return this.#cancelled;
  }

  fail(error: unknown): string {
    return this.#isOver ? '' : this.#error(error);
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        return this.#start(event.run);
      case 'response.output_text.delta':
        return `${this.#begin('text', event.itemId)}${this.#open?.head}${event.json}}\n\n`;
      case 'response.reasoning_text.delta':
        return `${this.#open?.id === event.itemId ? '' : this.#begin('thought', event.itemId)}${this.#open?.head}${event.json}}\n\n`;
      case 'response.output_text.annotation.added':
        return frame({ type: 'CUSTOM', name: 'citation', value: toAnnotation(event.citation).url_citation });
      case 'response.output_item.added':
        return this.#added(event.item);
      case 'response.function_call_arguments.delta': {
        const call = this.#calls.get(event.itemId);
        return call === undefined
          ? ''
          : `data: {"type":"TOOL_CALL_ARGS","toolCallId":${JSON.stringify(call.callId)},"delta":${event.json}}\n\n`;
      }
      case 'response.output_item.done':
        return this.#done(event.item);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#last(event.run);
      default:
        return '';
    }
  }

  #start({ warnings = [] }: RunSnapshot): string {
    this.#warnings = warnings;
    const { threadId, runId, state } = this.#variables;
    const started = frame({ type: 'RUN_STARTED', threadId, runId, protocolVersion: agUiVersion });
    return (state ?? undefined) === undefined ? started : started + frame({ type: 'STATE_SNAPSHOT', snapshot: state });
  }

  #begin(kind: 'text' | 'thought', messageId: string): string {
    const closing = this.#close();
    const id = JSON.stringify(messageId);
    const type = kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
    this.#open = { kind, id: messageId, head: `data: {"type":"${type}","messageId":${id},"delta":` };
    if (kind === 'text') {
      this.#parent = messageId;
      return closing + frame({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' });
    }
    return (
      closing +
      frame({ type: 'REASONING_START', messageId }) +
      frame({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' })
    );
  }

  #close(): string {
    const open = this.#open;
    this.#open = undefined;
    if (open === undefined) return '';
    return frame({ type: open.kind === 'text' ? 'TEXT_MESSAGE_END' : 'REASONING_MESSAGE_END', messageId: open.id });
  }

  #added(item: RunItem): string {
    if (item.type === 'server_tool_call') return this.#close() + frame({ type: 'STEP_STARTED', stepName: item.name });
    if (item.type !== 'function_call') return '';
    this.#calls.set(item.id, item);
    this.#parent ??= item.id;
    const { callId: toolCallId, name: toolCallName } = item;
    return this.#close() + frame({ type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId: this.#parent });
  }

  #done(item: RunItem): string {
    if (item.type === 'message') return this.#close();
    if (item.type === 'function_call') return frame({ type: 'TOOL_CALL_END', toolCallId: item.callId });
    if (item.type === 'server_tool_call_output') return item.status === 'completed' ? this.#changed(item.callId) : '';
    if (item.type === 'server_tool_call') {
      this.#parent = undefined;
      if (item.name === stateFunction) this.#stateCalls.set(item.callId, item.arguments);
      return frame({ type: 'STEP_FINISHED', stepName: item.name });
    }
    if (item.type !== 'reasoning') return '';
    const opening = this.#open?.id === item.id ? '' : this.#begin('thought', item.id);
    const encryptedValue = writtenThought({ text: item.text, ...item.origin });
    return (
      opening +
      this.#close() +
      frame({ type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: item.id, encryptedValue }) +
      frame({ type: 'REASONING_END', messageId: item.id })
    );
  }

  #changed(callId: string): string {
    const args = this.#stateCalls.get(callId);
    if (args === undefined || this.#state === undefined) return '';
    const { state, operations } = changeState(this.#state, args);
    this.#state = state;
    return operations.length === 0 ? '' : frame({ type: 'STATE_DELTA', delta: operations });
  }

  #last(run: RunSnapshot): string {
    const failure = findFailure(run);
    if (failure !== undefined) {
      const errorFrame = this.#error(failure);
      if (run.status !== 'cancelled') return errorFrame;
      this.#cancelled = errorFrame;
      return '';
    }
    this.#isOver = true;
    const { threadId, runId } = this.#variables;
    const files = [...listImages(run.output), ...listDocuments(run.output)].map(({ filename, mimeType, url }) => ({
      filename,
      mimeType,
      url,
    }));
    const warnings = shownWarnings([...this.#warnings, ...(run.warnings ?? [])], this.#context);
    return (
      this.#close() +
      (files.length === 0 ? '' : frame({ type: 'CUSTOM', name: 'files', value: files })) +
      (warnings === undefined ? '' : frame({ type: 'CUSTOM', name: 'warnings', value: warnings })) +
      frame({ type: 'RUN_FINISHED', threadId, runId, outcome: this.#outcome(), ...toResult(run), ...toUsage(run) })
    );
  }

  #outcome(): object {
    const calls = [...this.#calls.values()];
    const waiting = calls.filter(({ approval }) => approval === true);
    if (waiting.length > 0) return { type: 'interrupt', interrupts: waiting.map(toInterrupt) };
    // Clients from before 1.0 refuse an outcome with a member that they do not know.
    if (calls.length === 0 || this.#variables.isBefore1 === true) return { type: 'success' };
    return { type: 'success', pendingToolCallIds: calls.map(({ callId }) => callId) };
  }

  #error(error: unknown): string {
    const { message, code } = publicError(error);
    this.#isOver = true;
    return this.#close() + frame({ type: 'RUN_ERROR', message, code: code.toLowerCase() });
  }
}

/** A call of a tool of the service that waits for approval. */
function toInterrupt({ callId, name }: Call): object {
  return {
    id: callId,
    reason: 'tool_call',
    message: `May ${name} be called?`,
    toolCallId: callId,
    responseSchema: {
      type: 'object',
      properties: { approved: { type: 'boolean' }, arguments: { type: 'object' } },
      required: ['approved'],
    },
  };
}

function toResult({ incompleteReason }: RunSnapshot): object {
  return incompleteReason === null ? {} : { result: { incompleteReason } };
}

function toUsage({ usage, selection }: RunSnapshot): object {
  if (usage === null) return {};
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens } = usage;
  const model = selection === null ? {} : { provider: selection.provider, model: selection.model };
  const totals = { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, reasoningTokens };
  return { usage: [{ ...model, ...totals, cachedInputTokens: cachedTokens, cacheWriteInputTokens: cacheWriteTokens }] };
}

function frame<Event extends { readonly type: (typeof eventTypes)[number] }>(event: Event): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
