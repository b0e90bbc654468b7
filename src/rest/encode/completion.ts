import {
  type Completion,
  completionOf,
  finishOf,
  incompleteDetailsOf,
  warningsIn,
} from '../../domain/completions/completions.ts';
import { flowStepOf, selectionOf } from '../../domain/responses/wire.ts';
import { documentsOf, imagesOf } from '../../engine/runs/events/transcript.ts';
import { DomainError, errorBody, publicError } from '../../entities/errors.ts';
import { makeId, statelessChatId } from '../../entities/ids.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import { isTerminal, type RunEvent, type RunItem, type RunSnapshot, type Usage } from '../../entities/runs/event.ts';
import type { OutputFile } from '../../entities/runs/tool.ts';
import type { Warning } from '../../entities/warning.ts';
import { takesExtensions } from '../../http/extensions.ts';
import type { EncoderContext, FoldFactory, StreamEncoder, StreamEncoderFactory, Variables } from '../route.ts';

const done = 'data: [DONE]\n\n';
const chunkEnd = '}\n\n';

/** Frames of the chat completions format. The shared part of all chunks is made once; text is inserted as the JSON literal in which it came. */
export const completionEncoder: StreamEncoderFactory = (variables, context) => new CompletionEncoder(variables, context);

type FunctionCall = Extract<RunItem, { readonly type: 'function_call' }>;

class CompletionEncoder implements StreamEncoder {
  /** Up to the choices of a chunk. */
  readonly #head: string;
  /** Up to a piece of text, and behind it. */
  readonly #textHead: string;
  readonly #tail: string;
  readonly #textTail: string;
  readonly #includesUsage: boolean;
  readonly #showsExtensions: boolean;
  #warnings: readonly Warning[] = [];
  #hasRole = false;
  #calls = 0;
  /** The end of the stream reports why the run was cancelled: a stream has one error at most. */
  #cancelled: RunSnapshot | undefined;

  constructor(variables: Variables, context: EncoderContext) {
    const { id, chatId, model, created } = namesOf(variables, context.nowMs);
    this.#showsExtensions = showsExtensions(variables, context);
    this.#includesUsage = wantsUsage(variables);
    this.#head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"chatId":"${chatId}","choices":[`;
    this.#tail = `]${this.#includesUsage ? ',"usage":null' : ''}${chunkEnd}`;
    this.#textHead = `${this.#head}{"index":0,"delta":{"content":`;
    this.#textTail = `},"finish_reason":null}${this.#tail}`;
  }

  encode(events: readonly RunEvent[]): string {
    const textHead = this.#textHead;
    const textTail = this.#textTail;
    let text = '';
    for (const event of events) {
      if (event.type === 'response.output_text.delta') text += textHead + event.json + textTail;
      else text += this.#other(event);
    }
    return text;
  }

  end(): string {
    return this.#cancelled === undefined ? done : errorFrame(this.#cancelled) + done;
  }

  fail(error: unknown): string {
    return `data: ${JSON.stringify(errorBody(publicError(error)))}\n\n${done}`;
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#warnings = event.run.warnings ?? [];
        return '';
      case 'response.output_item.added':
        if (event.item.type === 'function_call') return this.#callStart(event.item);
        return event.item.type === 'message' || event.item.type === 'reasoning' ? this.#role('""') : '';
      case 'response.reasoning_text.delta':
        return this.#chunk(`{"reasoning_content":${event.json}}`);
      case 'response.function_call_arguments.delta':
        return this.#chunk(`{"tool_calls":[{"index":${this.#calls - 1},"function":{"arguments":${event.json}}}]}`);
      case 'response.output_text.annotation.added':
        return this.#chunk(JSON.stringify({ annotations: [annotationOf(event.citation)] }));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#last(event.run);
      default:
        return '';
    }
  }

  /** @param more  further members of the chunk. */
  #chunk(delta: string, finish = 'null', more = ''): string {
    const tail = more === '' ? this.#tail : this.#tail.replace(chunkEnd, more + chunkEnd);
    return `${this.#head}{"index":0,"delta":${delta},"finish_reason":${finish}}${tail}`;
  }

  /** The first chunk: some clients take the role from nowhere else. */
  #role(content: string): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return `${this.#head}{"index":0,"delta":{"role":"assistant","content":${content}},"logprobs":null,"finish_reason":null}${this.#tail}`;
  }

  #callStart({ callId: id, name, approval }: FunctionCall): string {
    const index = this.#calls;
    this.#calls += 1;
    const asks = approval === true ? { approval } : {};
    const call = { index, id, type: 'function', function: { name, arguments: '' }, ...asks };
    return this.#role('null') + this.#chunk(JSON.stringify({ tool_calls: [call] }));
  }

  /** Which model answered: the head of the reply is out before that is known. */
  #selected({ selection }: RunSnapshot): string {
    return selection === null || !this.#showsExtensions ? '' : `,"selection_metadata":${JSON.stringify(selectionOf(selection))}`;
  }

  #last(run: RunSnapshot): string {
    if (run.status === 'failed') return errorFrame(run);
    if (run.status === 'cancelled') {
      this.#cancelled = run;
      return '';
    }
    const details = incompleteDetailsOf(run);
    const bound = details === null ? '' : `,"incomplete_details":${JSON.stringify(details)}`;
    const warnings = [...this.#warnings, ...(run.warnings ?? [])];
    const warned = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
    const steps = run.flowSteps === undefined ? '' : `,"flow_steps":${JSON.stringify(run.flowSteps.map(flowStepOf))}`;
    const images = this.#showsExtensions ? imagesOf(run.output).map(({ url }) => url) : [];
    const files = this.#showsExtensions ? documentsOf(run.output) : [];
    const delta = JSON.stringify(madeMembers(images, files));
    const finish = this.#role('""') + this.#chunk(delta, `"${finishOf(run)}"`, bound + steps + warned + this.#selected(run));
    if (!this.#includesUsage) return finish;
    return `${finish}${this.#head}],"usage":${JSON.stringify(usageOf(run.usage ?? noUsage))}}\n\n`;
  }
}

/** The body of a reply in one piece: the fold of the same events. */
export const completionFold: FoldFactory = (variables, context) => {
  let run: RunSnapshot | undefined;
  let completion: Completion | undefined;
  let warnings: readonly Warning[] = [];
  const whole = () => {
    if (run === undefined) throw new Error('the run ended without its last event');
    completion ??= completionOf(run, warnings);
    return completion;
  };
  return {
    add(events) {
      warnings = [...warnings, ...warningsIn(events)];
      const last = events.at(-1);
      if (last !== undefined && isTerminal(last) && 'run' in last) run = last.run;
    },
    body: () => completionBody(variables, context, whole()),
    headers() {
      const { resolvedModel } = whole();
      return resolvedModel === null ? {} : { 'x-parley-model': headerText(resolvedModel) };
    },
  };
};

function completionBody(variables: Variables, context: EncoderContext, completion: Completion): string {
  const { id, chatId, model, created } = namesOf(variables, context.nowMs);
  const { content, toolCalls, citations, reasoning, finish, incompleteDetails, usage, flowSteps, warnings } = completion;
  const made = showsExtensions(variables, context) ? madeMembers(completion.images, completion.files) : {};
  const calls = toolCalls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
    ...(call.approval === true ? { approval: true } : {}),
  }));
  const message = {
    role: 'assistant',
    content,
    refusal: null,
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(citations.length === 0 ? {} : { annotations: citations.map(annotationOf) }),
    ...made,
  };
  return JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageOf(usage),
    chatId,
    ...(incompleteDetails === null ? {} : { incomplete_details: incompleteDetails }),
    ...(flowSteps.length === 0 ? {} : { flow_steps: flowSteps.map(flowStepOf) }),
    ...(warnings.length === 0 ? {} : { warnings }),
  });
}

/** What tools of the service made: images as common routers write them, and other files. */
function madeMembers(images: readonly string[], files: readonly OutputFile[]): object {
  return {
    ...(images.length === 0 ? {} : { images: images.map((url) => ({ type: 'image_url', image_url: { url } })) }),
    ...(files.length === 0 ? {} : { files: files.map(fileOf) }),
  };
}

function fileOf({ filename, mimeType, sizeBytes, url }: OutputFile): object {
  return { filename, mime_type: mimeType, size_bytes: sizeBytes, url };
}

/** Images and files are no part of the common format: the switch of the extensions leaves them out. */
function showsExtensions(variables: Variables, context: EncoderContext): boolean {
  return takesExtensions(context.header?.bind(context)) && inputOf(variables).streamOptions?.includeExtensions !== false;
}

const noUsage: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

function usageOf(usage: Usage): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    ...(usage.isEstimated === true ? { estimated: true } : {}),
  };
}

/** Clients drop or reject annotations that lack one of the four members. */
function annotationOf({ answerStart, answerEnd, name, url }: Citation): object {
  return { type: 'url_citation', url_citation: { start_index: answerStart, end_index: answerEnd, title: name, url } };
}

function errorFrame(run: RunSnapshot): string {
  const code = run.status === 'cancelled' ? 'CLIENT_CLOSED_REQUEST' : (run.error?.code ?? 'SERVER_ERROR');
  const message = run.error?.message ?? 'The run was cancelled';
  return `data: ${JSON.stringify(errorBody(publicError(new DomainError(code, message))))}\n\n`;
}

interface CompletionVariables {
  readonly model: string;
  readonly streamOptions?: { readonly includeUsage?: boolean | null; readonly includeExtensions?: boolean | null } | null;
}

function inputOf(variables: Variables): CompletionVariables {
  return variables.input as CompletionVariables;
}

function wantsUsage(variables: Variables): boolean {
  return inputOf(variables).streamOptions?.includeUsage === true;
}

/** The same random part makes the id of the reply and its chat id; a completion has no chat. */
function namesOf(variables: Variables, nowMs: number): { id: string; chatId: string; model: string; created: number } {
  const id = makeId('completion', nowMs);
  return {
    id,
    chatId: statelessChatId(id),
    model: inputOf(variables).model,
    created: Math.floor(nowMs / 1000),
  };
}

/** Model names come from the provider; a header allows only plain ASCII. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}
