import { warningsIn } from '../../domain/completions/completions.ts';
import { awaitedCalls, messagesOf, outputFilesOf, toolMessageId, visibleParts } from '../../engine/runs/events/transcript.ts';
import { DomainError, errorBody, publicError } from '../../entities/errors.ts';
import { timeOfId } from '../../entities/ids.ts';
import {
  isTerminal,
  publicForm,
  publicOutput,
  publicResult,
  type RunError,
  type RunEvent,
  type RunItem,
  type RunSnapshot,
} from '../../entities/runs/event.ts';
import type { Warning } from '../../entities/warning.ts';
import type { FoldFactory, StreamEncoder, StreamEncoderFactory, Variables } from '../route.ts';

/**
 * Frames of a chat's own stream: a projection of the whole log, numbered without gaps by itself, because one event of the log may be no
 * frame or several. So the encoder always sees the log from its start, and a reader who comes back (`Last-Event-ID: <runId>:<n>`) gets
 * what comes after frame n.
 */
export const chatEventEncoder: StreamEncoderFactory = (variables) => new ChatEventEncoder(variables);

class ChatEventEncoder implements StreamEncoder {
  readonly #chatId: string;
  readonly #knownFrame: number;
  #runId: string;
  #frame = 0;
  /** Items since the last message: it shows their images. */
  #unsaid: RunItem[] = [];
  /** Members of a text delta between its number and its text; changes with the message. */
  #deltaMiddle = '';

  constructor(variables: Variables) {
    this.#chatId = typeof variables.chatId === 'string' ? variables.chatId : '';
    this.#runId = typeof variables.runId === 'string' ? variables.runId : '';
    const { lastFrame } = variables;
    this.#knownFrame = typeof lastFrame === 'number' ? lastFrame : -1;
  }

  encode(events: readonly RunEvent[]): string {
    let text = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta') text += this.#delta(event.json);
      else text += this.#other(event);
    }
    return text;
  }

  end(): string {
    return '';
  }

  /** The run continues: this frame only says why the stream ends. It takes no number, so a reader resumes after the last numbered frame. */
  fail(error: unknown): string {
    return `event: error\ndata: ${JSON.stringify({ type: 'error', runId: this.#runId, chatId: this.#chatId, ...errorBody(publicError(error)) })}\n\n`;
  }

  #delta(json: string): string {
    const sequence = this.#frame;
    this.#frame += 1;
    if (sequence <= this.#knownFrame) return '';
    return `id: ${this.#runId}:${sequence}\nevent: message.delta\ndata: {"type":"message.delta","sequence":${sequence}${this.#deltaMiddle}${json}}\n\n`;
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#runId = event.run.runId;
        return this.#write('run.started', {
          status: event.run.status,
          ...toldOf(event.run),
        });
      case 'response.output_item.added':
        return this.#itemAdded(event.item, event.statusHints);
      case 'response.output_text.annotation.added':
        return this.#write('citation', { messageId: event.itemId, citation: event.citation });
      case 'response.output_item.done':
        return this.#itemDone(event.item);
      case 'parley.step':
        return this.#write('step', { name: event.name, detail: event.detail });
      case 'parley.flow.step':
        return event.isHidden === true ? '' : this.#write('step', { name: 'flow', step: event.step });
      default:
        return isTerminal(event) && 'run' in event ? this.#ended(event.run) : '';
    }
  }

  #itemAdded(item: RunItem, hints: readonly string[] = []): string {
    if (item.type === 'message') {
      const names = JSON.stringify({ runId: this.#runId, chatId: this.#chatId, messageId: item.id });
      this.#deltaMiddle = `,${names.slice(1, -1)},"delta":`;
      return this.#write('message.started', { messageId: item.id, role: 'assistant', createdAt: timeOfId(item.id) });
    }
    if (item.type !== 'server_tool_call') return '';
    return this.#write('tool.started', { toolCallId: item.callId, name: item.name, arguments: item.arguments, hints });
  }

  #itemDone(item: RunItem): string {
    if (item.type === 'message') {
      const { id: messageId, text, citations, status } = item;
      const parts = text === '' ? null : visibleParts(text, this.#unsaid);
      if (text !== '') this.#unsaid = [];
      const members = { messageId, role: 'assistant', content: text, ...(parts === null ? {} : { parts }), status, citations };
      return this.#write('message.completed', members);
    }
    this.#unsaid.push(item);
    if (item.type === 'server_tool_call' && item.form !== undefined) {
      const { callId, status, form, result } = item;
      return this.#write('tool.completed', {
        toolCallId: callId,
        status,
        ...(result === undefined ? { output: '', error: null } : publicResult(result)),
        call: publicForm(form, result),
      });
    }
    if (item.type !== 'server_tool_call_output') return '';
    const { callId: toolCallId, status, error, files } = item;
    return this.#write('tool.completed', {
      toolCallId,
      status,
      output: publicOutput(item),
      error,
      ...(files === undefined ? {} : { files }),
    });
  }

  #ended(run: RunSnapshot): string {
    const toolCalls = awaitedCalls(run);
    const call = toolCalls.length === 0 ? '' : this.#write('tool.call', { systemMessageId: toolMessageId(run), toolCalls });
    const { status, incompleteReason, error, usage, selection } = run;
    const end = this.#write(`run.${status}`, {
      status,
      ...(incompleteReason === null ? {} : { incompleteReason }),
      ...(error === null ? {} : errorOf(error)),
      usage,
      selection,
      ...toldOf(run),
    });
    return call + end + this.#write('done', {});
  }

  #write(type: string, members: Readonly<Record<string, unknown>>): string {
    const sequence = this.#frame;
    this.#frame += 1;
    if (sequence <= this.#knownFrame) return '';
    const data = JSON.stringify({ type, sequence, runId: this.#runId, chatId: this.#chatId, ...members });
    return `id: ${this.#runId}:${sequence}\nevent: ${type}\ndata: ${data}\n\n`;
  }
}

function toldOf({ warnings }: Pick<RunSnapshot, 'warnings'>): { readonly warnings?: readonly Warning[] } {
  return warnings === undefined || warnings.length === 0 ? {} : { warnings };
}

/** The reply of a message in one piece. `status` and `error` report a failed run: the message itself was accepted. */
export const chatReplyFold: FoldFactory = () => {
  let run: RunSnapshot | undefined;
  let warnings: readonly Warning[] = [];
  return {
    add(events) {
      warnings = [...warnings, ...warningsIn(events)];
      const last = events.at(-1);
      if (last !== undefined && isTerminal(last) && 'run' in last) run = last.run;
    },
    body() {
      if (run === undefined) throw new Error('the run ended without its last event');
      return JSON.stringify({ ...replyOf(run), ...toldOf({ warnings }) });
    },
  };
};

function replyOf(run: RunSnapshot): object {
  const { runId, status, incompleteReason, error, usage, selection, flowSteps } = run;
  const message = messagesOf(run).findLast(({ isHidden }) => !isHidden);
  const { toolCalls, citations } = message ?? { toolCalls: null, citations: null };
  const files = outputFilesOf(run.output);
  return {
    runId,
    status,
    message:
      message === undefined
        ? null
        : {
            id: message.id,
            createdAt: message.createdAt,
            updatedAt: message.createdAt,
            role: message.role,
            content: message.content,
            ...(message.parts === null ? {} : { parts: message.parts }),
          },
    ...(toolCalls === null ? {} : { systemMessageId: message?.id, toolCalls }),
    ...(citations === null ? {} : { citations }),
    ...(files.length === 0 ? {} : { files }),
    ...(flowSteps === undefined ? {} : { steps: flowSteps }),
    ...(incompleteReason === null ? {} : { incompleteReason }),
    ...(error === null ? {} : errorOf(error)),
    usage: usage === null ? null : { ...usage, totalTokens: usage.inputTokens + usage.outputTokens },
    selection,
  };
}

/** The error of a run in the shape of every v1 error. */
function errorOf({ code, message }: RunError): ReturnType<typeof errorBody> {
  return errorBody(publicError(new DomainError(code, message)));
}
