import {
  addedItemOf,
  annotationOf,
  flowStepOf,
  isApprovalRequest,
  isExtension,
  itemOf,
  refusalPart,
  responseError,
  responseObject,
  subagentOf,
  textPart,
  usageOf,
} from '../../domain/responses/wire.ts';
import { RunFold } from '../../engine/runs/events/fold.ts';
import { errorBody, publicError } from '../../entities/errors.ts';
import type { RunEvent, RunItem, RunSnapshot, TokenLogprob } from '../../entities/runs/event.ts';
import type { ResponseHead, WireObject } from '../../entities/runs/response.ts';
import { takesExtensions } from '../../http/extensions.ts';
import type { EncoderContext, FoldFactory, StreamEncoder, StreamEncoderFactory, Variables } from '../route.ts';

/** Writes one event of the format: as a frame of an event stream, or as a message of a socket. */
export type WriteEvent = (type: string, json: string) => string;

/** `event` equals `type`; no `id`: the format numbers its events itself. */
export const sseFrame: WriteEvent = (type, json) => `event: ${type}\ndata: ${json}\n\n`;
const done = 'event: done\ndata: [DONE]\n\n';

export interface ProjectionOptions {
  readonly hasExtensions: boolean;
  /** Frames up to this number are known to the reader. */
  readonly startingAfter: number;
  /** Events of the log up to this number are known to the reader. */
  readonly seenSequence: number;
}

/**
 * The one projection of a run's log into the events of the responses format. It numbers events and output items over what it shows, so it
 * always sees the log from its start; what the reader knows is left out.
 */
export class ResponseProjection {
  readonly #write: WriteEvent;
  readonly #options: ProjectionOptions;
  #head: ResponseHead | undefined;
  #sequence = 0;
  #itemCount = 0;
  /** The item that is open, with its place among those shown; undefined while it is not shown. */
  #open: { readonly item: RunItem; readonly index: number } | undefined;
  #annotations = 0;
  /** Members of a text delta around its number and its text; changes with the item. */
  #deltaTail = '';
  #deltaType = 'response.output_text.delta';
  #deltaEnd = textEnd;

  constructor(write: WriteEvent, options: ProjectionOptions) {
    this.#write = write;
    this.#options = options;
  }

  /** The number that the next event has. */
  get nextSequence(): number {
    return this.#sequence;
  }

  project(events: readonly RunEvent[]): string {
    let text = '';
    for (const event of events) {
      const isKnown = event.sequence <= this.#options.seenSequence;
      const written = event.type === 'response.output_text.delta' ? this.#delta(event.json, event.logprobs) : this.#other(event);
      if (!isKnown) text += written;
    }
    return text;
  }

  #delta(json: string, logprobs: readonly TokenLogprob[] | undefined): string {
    const number = this.#sequence;
    this.#sequence += 1;
    if (number <= this.#options.startingAfter) return '';
    const type = this.#deltaType;
    const end = logprobs === undefined || this.#refuses ? this.#deltaEnd : `,"logprobs":${JSON.stringify(logprobs)}}`;
    return this.#write(type, `{"type":"${type}","sequence_number":${number}${this.#deltaTail}${json}${end}`);
  }

  #other(event: RunEvent): string {
    switch (event.type) {
      case 'response.created':
        this.#head ??= event.run.head;
        return this.#state(event.type, event.run);
      case 'response.in_progress':
      case 'response.completed':
      case 'response.failed':
      case 'response.incomplete':
        return this.#state(event.type, event.run);
      case 'response.output_item.added':
        return this.#added(event.item, event.statusHints);
      case 'response.output_item.done':
        return this.#done(event.item);
      case 'parley.flow.step':
        if (event.isHidden === true || !this.#options.hasExtensions) return '';
        return this.#event('response.flow.step', { step: flowStepOf(event.step) });
      case 'parley.step':
      case 'parley.input':
      case 'parley.usage':
      case 'parley.cited':
      case 'parley.subagent.kept':
      case 'parley.research':
        return '';
      default:
        return this.#open === undefined
          ? ''
          : this.#within(event, { item_id: this.#open.item.id, output_index: this.#open.index });
    }
  }

  #state(type: string, run: RunSnapshot): string {
    if (this.#head === undefined) throw new Error('the log of a response begins with its head');
    return this.#event(type, { response: responseObject(this.#head, run, this.#options) });
  }

  #added(item: RunItem, hints: readonly string[] | undefined): string {
    if (!this.#options.hasExtensions && isExtension(item)) {
      this.#open = undefined;
      return '';
    }
    const index = this.#itemCount;
    this.#itemCount += 1;
    this.#open = { item, index };
    this.#annotations = 0;
    const names = JSON.stringify({ item_id: item.id, output_index: index, content_index: 0 });
    this.#deltaTail = `,${names.slice(1, -1)},"delta":`;
    this.#deltaType = isRefusal(item) ? 'response.refusal.delta' : 'response.output_text.delta';
    this.#deltaEnd = isRefusal(item) ? '}' : textEnd;
    const shownHints = this.#options.hasExtensions && hints !== undefined && hints.length > 0 ? { status_hints: hints } : {};
    const added = this.#event('response.output_item.added', {
      output_index: index,
      item: addedItemOf(item, this.#head?.includes),
      ...shownHints,
    });
    if (item.type !== 'reasoning') return added;
    const part = { type: 'summary_text', text: '' };
    return added + this.#event('response.reasoning_summary_part.added', { ...this.#place(), summary_index: 0, part });
  }

  #done(item: RunItem): string {
    if (this.#open === undefined) return '';
    const before = item.type === 'reasoning' ? this.#reasoningDone(item.text) : this.#listed(item);
    const written =
      before +
      this.#event('response.output_item.done', { output_index: this.#open.index, item: itemOf(item, this.#head?.includes) });
    this.#open = undefined;
    return written;
  }

  #reasoningDone(text: string): string {
    const place = { ...this.#place(), summary_index: 0 };
    return (
      this.#event('response.reasoning_summary_text.done', { ...place, text }) +
      this.#event('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
    );
  }

  /** Whether the open item is a refusal. */
  get #refuses(): boolean {
    return this.#open !== undefined && isRefusal(this.#open.item);
  }

  #place(): WireObject {
    return { item_id: this.#open?.item.id, output_index: this.#open?.index };
  }

  #within(event: RunEvent, place: WireObject): string {
    const text = { ...place, content_index: 0 };
    switch (event.type) {
      case 'response.content_part.added':
        return this.#event(event.type, { ...text, part: this.#refuses ? refusalPart('') : textPart('', []) });
      case 'response.output_text.annotation.added': {
        const index = this.#annotations;
        this.#annotations += 1;
        return this.#event(event.type, { ...text, annotation_index: index, annotation: annotationOf(event.citation) });
      }
      case 'response.output_text.done':
        if (this.#refuses) return this.#event('response.refusal.done', { ...text, refusal: event.text });
        return this.#event(event.type, { ...text, text: event.text, logprobs: event.logprobs ?? [] });
      case 'response.content_part.done':
        if (this.#refuses) return this.#event(event.type, { ...text, part: refusalPart(event.text) });
        return this.#event(event.type, { ...text, part: textPart(event.text, event.citations, event.logprobs) });
      case 'response.reasoning_text.delta':
        return this.#event('response.reasoning_summary_text.delta', {
          ...place,
          summary_index: 0,
          delta: JSON.parse(event.json),
        });
      case 'response.function_call_arguments.delta':
        if (this.#open !== undefined && isApprovalRequest(this.#open.item)) return '';
        return this.#event(event.type, { ...place, delta: JSON.parse(event.json) });
      case 'response.function_call_arguments.done':
        if (this.#open !== undefined && isApprovalRequest(this.#open.item)) return '';
        return this.#event(event.type, { ...place, name: event.name, arguments: event.arguments });
      case 'response.server_tool_call.in_progress':
        return this.#callBegun(event.type, place);
      case 'response.server_tool_call.completed':
      case 'response.server_tool_call.failed':
        return this.#callEnded(event.type, place);
      case 'response.subagent.started':
      case 'response.subagent.completed':
        return this.#event(event.type, { ...place, subagent: subagentOf(event.subagent) });
      case 'response.subagent.progress': {
        const { subagentId, message, progress, usage } = event;
        const shownUsage = usage === null ? null : usageOf(usage, { hasExtensions: true });
        return this.#event(event.type, { ...place, subagent_id: subagentId, message, progress, usage: shownUsage });
      }
      default:
        return '';
    }
  }

  /** Arguments of a tool of the service are whole before it begins. */
  #callBegun(type: string, place: WireObject): string {
    const item = this.#open?.item;
    if (item?.type !== 'server_tool_call') return '';
    const { form, arguments: args } = item;
    const said = (name: string) =>
      this.#event(`response.${name}_arguments.delta`, { ...place, delta: args }) +
      this.#event(`response.${name}_arguments.done`, { ...place, arguments: args });
    if (form === undefined) return this.#event(type, place) + said('server_tool_call');
    const begun = this.#event(`response.${form.type}_call.in_progress`, place);
    return form.type === 'mcp' ? begun + said('mcp_call') : begun + this.#event(`response.${form.type}_call.searching`, place);
  }

  /** A search has no event for a failure: its item says so. */
  #callEnded(type: string, place: WireObject): string {
    const item = this.#open?.item;
    const form = item?.type === 'server_tool_call' ? item.form : undefined;
    if (form === undefined) return this.#event(type, place);
    const end = form.type === 'mcp' && type.endsWith('.failed') ? 'failed' : 'completed';
    return this.#event(`response.${form.type}_call.${end}`, place);
  }

  /** A listing arrives whole: its events say so. */
  #listed(item: RunItem): string {
    if (item.type !== 'mcp_list_tools') return '';
    const end = item.error === null ? 'completed' : 'failed';
    return (
      this.#event('response.mcp_list_tools.in_progress', this.#place()) +
      this.#event(`response.mcp_list_tools.${end}`, this.#place())
    );
  }

  #event(type: string, members: WireObject): string {
    const number = this.#sequence;
    this.#sequence += 1;
    if (number <= this.#options.startingAfter) return '';
    return this.#write(type, JSON.stringify({ type, sequence_number: number, ...members }));
  }
}

const textEnd = ',"logprobs":[]}';

function isRefusal(item: RunItem): boolean {
  return item.type === 'message' && item.isRefusal === true;
}

/** An `error` event as both schemas of the format have it. */
export function errorEvent(error: unknown, sequence: number): WireObject {
  const { message, type, param, code } = errorBody(responseError(publicError(error))).error;
  return { type: 'error', sequence_number: sequence, code, message, param, error: { type, code, message, param } };
}

export const responseEncoder: StreamEncoderFactory = (variables, context) => {
  const projection = new ResponseProjection(sseFrame, {
    hasExtensions: showsExtensions(variables, context),
    startingAfter: typeof variables.starting_after === 'number' ? variables.starting_after : -1,
    seenSequence: Number(context.notes?.get(seenSequenceNote) ?? -1),
  });
  const encoder: StreamEncoder = {
    encode: (events) => projection.project(events),
    end: () => done,
    fail: (error) => sseFrame('error', JSON.stringify(errorEvent(error, projection.nextSequence))) + done,
  };
  return encoder;
};

/** Where a resolver notes which events of the log the caller knows. */
export const seenSequenceNote = 'seen-sequence';

/** The reply in one piece: the fold of the same events. `status` and `error` report a failed run. */
export const responseFold: FoldFactory = (variables, context) => {
  const fold = new RunFold();
  let head: ResponseHead | undefined;
  return {
    add(events) {
      const [first] = events;
      if (first?.type === 'response.created') head ??= first.run.head;
      fold.add(events);
    },
    body() {
      if (head === undefined) throw new Error('the log of a response begins with its head');
      return JSON.stringify(responseObject(head, fold.snapshot(), { hasExtensions: showsExtensions(variables, context) }));
    },
  };
};

/** Some stock clients fail on members outside the format: `x-parley-extensions: off` or `stream_options.include_extensions: false` leaves them out. */
function showsExtensions(variables: Variables, context: EncoderContext): boolean {
  if (!takesExtensions(context.header?.bind(context))) return false;
  const { streamOptions } = (variables.input ?? {}) as {
    readonly streamOptions?: { readonly include_extensions?: unknown } | null;
  };
  return streamOptions?.include_extensions !== false;
}
