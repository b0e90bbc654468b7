import { findFailure } from '../../entities/conversations/runs/answer.ts';
import type { RunEvent, RunItem, RunSnapshot, TokenLogprob } from '../../entities/conversations/runs/event.ts';
import { errorBody, publicError } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import {
  type EncoderContext,
  type StreamEncoder,
  type StreamEncoderFactory,
  shownWarnings,
  type Variables,
} from '../ground/encoder.ts';
import { flowStep, toWireFlowStep, toWireSelection } from '../ground/run-parts.ts';
import {
  anyOf,
  behaves,
  component,
  constant,
  flag,
  integer,
  isExtension,
  list,
  named,
  object,
  oneOfTexts,
  reference,
  type Sent,
  text,
} from '../ground/schema.ts';
import {
  annotation,
  choiceLogprobs,
  finishReasons,
  image,
  incompleteDetails,
  logprobsOfTokens,
  madeFile,
  madeMembers,
  makeNames,
  reasoningDetail,
  toAnnotation,
  toFinishReason,
  toIncompleteDetails,
  toReasoningDetails,
  toUsage,
  usage,
} from './reply.ts';

/** The stream of the chat completions format: the schema of its chunks, and their encoder from the events of a run. */

const callDelta = object('A piece of a call. The first of a call names it; the others add to its arguments.', {
  index: integer('The place of the call, from 0.'),
  id: text('The id that the output refers to.').optional(),
  type: constant('function').optional(),
  function: object('What is called.', {
    name: text('The name of the function.').optional(),
    arguments: text('What is added to its arguments, which are JSON text.'),
  }),
  approval: flag('True when the tool runs in the service and waits for approval.', isExtension).optional(),
});
const delta = object('What is added to the message.', {
  role: constant('assistant').meta({ description: 'In the first chunk.' }).optional(),
  content: text('A piece of text.').nullish(),
  refusal: text('A piece of the words with which the model declines to answer.').optional(),
  reasoning_content: text('A piece of the thinking.').optional(),
  reasoning_details: list('What the model provider demands to see again.', reasoningDetail).optional(),
  tool_calls: list('A piece of a call.', callDelta).optional(),
  annotations: list('A source of the text.', annotation).optional(),
  images: list('In the last chunk: images that tools of the service made.', image).optional(),
  files: list('In the last chunk: other files that tools of the service made.', madeFile)
    .meta({ ...isExtension, ...behaves('tool-files') })
    .optional(),
});
const chunk = component('CompletionChunk', 'A piece of a streamed reply.', {
  id: text('The same in all chunks.'),
  object: constant('chat.completion.chunk'),
  created: integer('Seconds since 1970; the same in all chunks.'),
  model: text('The model as the request named it.'),
  chatId: text('Names this exchange for logs; nothing can be fetched by it.'),
  choices: list(
    'One, but for the chunk that tells the usage, which has none.',
    object('What is added.', {
      index: integer('Always 0.'),
      delta,
      logprobs: choiceLogprobs.nullable().meta({ description: 'With `logprobs: true`: of the piece.' }).optional(),
      finish_reason: oneOfTexts('Why the answer ended; null until it does.', finishReasons).nullable(),
    }),
  ),
  incomplete_details: incompleteDetails
    .meta({
      description: 'With the last chunk of an answer that finishes with `length`.',
      ...isExtension,
      ...behaves('incomplete-reasons'),
    })
    .optional(),
  flow_steps: list('With the last chunk: the finished steps of the flow that answered, where they are shown.', flowStep)
    .meta({ ...isExtension, ...behaves('flow-steps') })
    .optional(),
  warnings: list(
    'With the last chunk: what of the agent or the request has no effect; absent when everything has.',
    reference('Warning'),
  )
    .meta({ ...isExtension, ...behaves('warnings') })
    .optional(),
  selection_metadata: reference('ResponseSelection', 'With the last chunk: which model answered and how it was chosen.')
    .meta({ ...isExtension, ...behaves('selection-metadata') })
    .optional(),
  service_tier: text('With the last chunk: the class of service in which the provider answered, where it says.').optional(),
  usage: usage.nullish().meta({ description: 'With `stream_options.include_usage`: null but in the last chunk.' }),
});
named(
  'CompletionFrame',
  anyOf('The `data` of a frame: a chunk, or the failure that ends the stream. Behind the last one stands the data `[DONE]`.', [
    chunk,
    reference('Error'),
  ]),
);

const doneFrame = 'data: [DONE]\n\n';
const chunkEnd = '}\n\n';

/** Frames of the chat completions format. The shared part of all chunks is made once; text is inserted as the JSON literal in which it came. */
export const completionEncoder: StreamEncoderFactory = (variables, context) => new CompletionEncoder(variables, context);

class CompletionEncoder implements StreamEncoder {
  readonly #context: EncoderContext;
  readonly #variables: Variables;
  /** Up to the choices of a chunk; '' before the first event, which has the id of the run. */
  #head = '';
  /** Up to a piece of text, and behind it. */
  #textHead = '';
  /** The same of a refusal. */
  #refusalHead = '';
  #isRefusing = false;
  readonly #tail: string;
  readonly #textTail: string;
  readonly #includesUsage: boolean;
  #warnings: readonly Warning[] = [];
  #hasRole = false;
  #calls = 0;
  /** The end of the stream reports why the run was cancelled: a stream has one error at most. */
  #cancelled = '';

  constructor(variables: Variables, context: EncoderContext) {
    this.#context = context;
    this.#variables = variables;
    this.#includesUsage = wantsUsage(variables);
    this.#tail = `]${this.#includesUsage ? ',"usage":null' : ''}${chunkEnd}`;
    this.#textTail = `},"finish_reason":null}${this.#tail}`;
  }

  encode(events: readonly RunEvent[]): string {
    const [first] = events;
    if (first?.type === 'response.created') this.#begin(first.run.runId);
    const textTail = this.#textTail;
    let writtenText = '';
    for (const event of events) {
      if (event.type !== 'response.output_text.delta') writtenText += this.#other(event);
      else if (event.logprobs !== undefined) writtenText += this.#textWithLogprobs(event.json, event.logprobs);
      else writtenText += (this.#isRefusing ? this.#refusalHead : this.#textHead) + event.json + textTail;
    }
    return writtenText;
  }

  end(): string {
    return this.#cancelled + doneFrame;
  }

  fail(error: unknown): string {
    return errorFrame(error) + doneFrame;
  }

  #begin(runId: string): void {
    const { id, chatId, model, created } = makeNames(runId, this.#variables, this.#context);
    this.#head = `data: {"id":"${id}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"chatId":"${chatId}","choices":[`;
    this.#textHead = `${this.#head}{"index":0,"delta":{"content":`;
    this.#refusalHead = `${this.#head}{"index":0,"delta":{"refusal":`;
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#warnings = event.run.warnings ?? [];
        return '';
      case 'response.output_item.added':
        if (event.item.type === 'function_call') return this.#callStart(event.item);
        this.#isRefusing = event.item.type === 'message' && event.item.isRefusal === true;
        if (this.#isRefusing) return this.#role('null');
        return event.item.type === 'message' || event.item.type === 'reasoning' ? this.#role('""') : '';
      case 'response.reasoning_text.delta':
        return this.#chunk(`{"reasoning_content":${event.json}}`);
      case 'response.output_item.done': {
        const details = toReasoningDetails(event.item);
        return details.length === 0 ? '' : this.#chunk(deltaJson({ reasoning_details: [...details] }));
      }
      case 'response.function_call_arguments.delta':
        return this.#chunk(`{"tool_calls":[{"index":${this.#calls - 1},"function":{"arguments":${event.json}}}]}`);
      case 'response.output_text.annotation.added':
        return this.#chunk(deltaJson({ annotations: [toAnnotation(event.citation)] }));
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#last(event.run);
      default:
        return '';
    }
  }

  /** @param more  further members of the chunk. */
  #chunk(deltaText: string, finish = 'null', more = ''): string {
    const tail = more === '' ? this.#tail : this.#tail.slice(0, -chunkEnd.length) + more + chunkEnd;
    return `${this.#head}{"index":0,"delta":${deltaText},"finish_reason":${finish}}${tail}`;
  }

  #textWithLogprobs(json: string, tokens: readonly TokenLogprob[]): string {
    const logprobsJson = JSON.stringify(logprobsOfTokens(tokens));
    return `${this.#textHead}${json}},"logprobs":${logprobsJson},"finish_reason":null}${this.#tail}`;
  }

  /** The first chunk: some clients take the role from nowhere else. */
  #role(content: string): string {
    if (this.#hasRole) return '';
    this.#hasRole = true;
    return `${this.#head}{"index":0,"delta":{"role":"assistant","content":${content}},"logprobs":null,"finish_reason":null}${this.#tail}`;
  }

  #callStart({ callId: id, name, approval }: Extract<RunItem, { readonly type: 'function_call' }>): string {
    const index = this.#calls;
    this.#calls += 1;
    const call = { index, id, type: 'function' as const, function: { name, arguments: '' }, approval };
    return this.#role('null') + this.#chunk(deltaJson({ tool_calls: [call] }));
  }

  #last(run: RunSnapshot): string {
    const failure = findFailure(run);
    if (failure !== undefined) {
      const frame = errorFrame(failure);
      if (run.status !== 'cancelled') return frame;
      this.#cancelled = frame;
      return '';
    }
    const madeDelta = deltaJson(madeMembers(run.output, this.#context));
    const finish = this.#role('""') + this.#chunk(madeDelta, `"${toFinishReason(run)}"`, this.#endMembers(run));
    if (!this.#includesUsage) return finish;
    return `${finish}${this.#head}],"usage":${JSON.stringify(toUsage(run))}}\n\n`;
  }

  /** Which model answered is known at the end only: the head of the reply is out before. */
  #endMembers(run: RunSnapshot): string {
    const warnings = [...this.#warnings, ...(run.warnings ?? [])];
    const members: Partial<Sent<typeof chunk>> = {
      service_tier: run.serviceTier,
      incomplete_details: toIncompleteDetails(run),
      flow_steps: run.flowSteps?.map(toWireFlowStep),
      warnings: shownWarnings(warnings, this.#context),
      selection_metadata: run.selection === null || !this.#context.takesExtensions ? undefined : toWireSelection(run.selection),
    };
    const json = JSON.stringify(members).slice(1, -1);
    return json === '' ? '' : `,${json}`;
  }
}

function deltaJson(members: Sent<typeof delta>): string {
  return JSON.stringify(members);
}

function errorFrame(error: unknown): string {
  return `data: ${JSON.stringify(errorBody(publicError(error)))}\n\n`;
}

function wantsUsage({ streamOptions }: Variables): boolean {
  return (streamOptions as { readonly includeUsage?: unknown } | null | undefined)?.includeUsage === true;
}
