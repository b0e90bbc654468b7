import type {
  EndedSubagent,
  RunEvent,
  RunItem,
  RunSnapshot,
  Subagent,
  TokenLogprob,
} from '../../entities/conversations/runs/event.ts';
import { itemIncludes, type ResponseHead, type WireObject, withIncludes } from '../../entities/conversations/runs/response.ts';
import { errorBody, type PublicError, publicError } from '../../entities/ground/errors.ts';
import type { StreamEncoderFactory } from '../ground/encoder.ts';
import { toWireFlowStep } from '../ground/run-parts.ts';
import { responseError } from './errors.ts';
import {
  isAdded,
  isApprovalRequest,
  textPart,
  toAddedItem,
  toAnnotation,
  toRefusalPart,
  toSummaryPart,
  toWireItem,
} from './output-items.ts';
import { toResponse, toWireUsage } from './reply.ts';

/** The projection of a run's log into the events of the responses format (event-schemas.ts), as frames of a stream and as messages of a socket. */

/** Writes one event of the format: as a frame of an event stream, or as a message of a socket. */
export type WriteEvent = (type: string, json: string) => string;

/** `event` equals `type`; no `id`: the format numbers its events itself. */
export const sseFrame: WriteEvent = (type, json) => `event: ${type}\ndata: ${json}\n\n`;
const doneFrame = 'event: done\ndata: [DONE]\n\n';

export interface ProjectionOptions {
  readonly takesExtensions: boolean;
  /** Frames up to this number are known to the reader. */
  readonly startingAfter: number;
  /** Events of the log up to this number are known to the reader. */
  readonly seenSequence: number;
  /** Optional members, beside those that the request for the response named. */
  readonly includes?: readonly string[];
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
  /** Whether the open thought has shown any text. */
  #hasSummary = false;
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
      const writtenFrame =
        event.type === 'response.output_text.delta' ? this.#delta(event.json, event.logprobs) : this.#other(event);
      if (!isKnown) text += writtenFrame;
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
        this.#head ??= event.run.head === undefined ? undefined : withIncludes(event.run.head, this.#options.includes ?? []);
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
        if (event.isHidden === true || !this.#options.takesExtensions) return '';
        return this.#event('response.flow.step', { step: toWireFlowStep(event.step) });
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
    return this.#event(type, { response: toResponse(run, this.#head, this.#options) });
  }

  #added(item: RunItem, hints: readonly string[] | undefined): string {
    if (!this.#options.takesExtensions && isAdded(item)) {
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
    const shownHints = this.#options.takesExtensions && hints !== undefined && hints.length > 0 ? { status_hints: hints } : {};
    const addedFrame = this.#event('response.output_item.added', {
      output_index: index,
      item: toAddedItem(item, this.#head?.includes),
      ...shownHints,
    });
    this.#hasSummary = false;
    return addedFrame;
  }

  /** Begins the summary of a thought with its first text: a thought that is hidden has none. */
  #summaryBegun(): string {
    if (this.#hasSummary) return '';
    this.#hasSummary = true;
    return this.#event('response.reasoning_summary_part.added', { ...this.#place(), summary_index: 0, part: toSummaryPart('') });
  }

  #done(item: RunItem): string {
    if (this.#open === undefined) return '';
    const before = item.type === 'reasoning' ? this.#reasoningDone(item.text) : this.#listed(item);
    const writtenFrame =
      before +
      this.#event('response.output_item.done', { output_index: this.#open.index, item: toWireItem(item, this.#head?.includes) });
    this.#open = undefined;
    return writtenFrame;
  }

  #reasoningDone(text: string): string {
    if (text === '') return '';
    const place = { ...this.#place(), summary_index: 0 };
    return (
      this.#summaryBegun() +
      this.#event('response.reasoning_summary_text.done', { ...place, text }) +
      this.#event('response.reasoning_summary_part.done', { ...place, part: toSummaryPart(text) })
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
        return this.#event(event.type, { ...text, part: this.#refuses ? toRefusalPart('') : textPart('', []) });
      case 'response.output_text.annotation.added': {
        const index = this.#annotations;
        this.#annotations += 1;
        return this.#event(event.type, { ...text, annotation_index: index, annotation: toAnnotation(event.citation) });
      }
      case 'response.output_text.done':
        if (this.#refuses) return this.#event('response.refusal.done', { ...text, refusal: event.text });
        return this.#event(event.type, { ...text, text: event.text, logprobs: event.logprobs ?? [] });
      case 'response.content_part.done':
        if (this.#refuses) return this.#event(event.type, { ...text, part: toRefusalPart(event.text) });
        return this.#event(event.type, { ...text, part: textPart(event.text, event.citations, event.logprobs) });
      case 'response.reasoning_text.delta':
        return (
          this.#summaryBegun() +
          this.#event('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta: JSON.parse(event.json) })
        );
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
        return this.#event(event.type, { ...place, subagent: toWireSubagent(event.subagent) });
      case 'response.subagent.progress': {
        const { subagentId, message, progress, usage: tokens } = event;
        const shownUsage = tokens === null ? null : toWireUsage(tokens, true);
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
    const toCallFrame = (name: string) =>
      this.#event(`response.${name}_arguments.delta`, { ...place, delta: args }) +
      this.#event(`response.${name}_arguments.done`, { ...place, arguments: args });
    if (form === undefined) return this.#event(type, place) + toCallFrame('server_tool_call');
    const begunFrame = this.#event(`response.${form.type}_call.in_progress`, place);
    return form.type === 'mcp'
      ? begunFrame + toCallFrame('mcp_call')
      : begunFrame + this.#event(`response.${form.type}_call.searching`, place);
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

/** A subagent in its first and last event: only the last has its result. */
function toWireSubagent(subagentView: Subagent | EndedSubagent): WireObject {
  const { id, name, agentId, parentId, task, status, depth } = subagentView;
  const subagentMembers = { id, name, agent_id: agentId, parent_id: parentId, task, status, depth };
  if (!('summary' in subagentView)) return subagentMembers;
  return {
    ...subagentMembers,
    summary: subagentView.summary,
    usage: subagentView.usage === null ? null : toWireUsage(subagentView.usage, true),
  };
}

/** The members of an `error` event besides its type and number, as both schemas of the format have it. */
export function errorMembers(shownError: PublicError) {
  const { message, type, param, code } = errorBody(shownError).error;
  return { code, message, param, error: { type, code, message, param } };
}

export const responseEncoder: StreamEncoderFactory = ({ starting_after: after, include }, context) => {
  const projection = new ResponseProjection(sseFrame, {
    takesExtensions: context.takesExtensions,
    startingAfter: typeof after === 'number' ? after : -1,
    seenSequence: Number(context.notes?.get(seenSequenceNote) ?? -1),
    includes: Array.isArray(include) ? include.filter((name) => itemIncludes.includes(name)) : [],
  });
  return {
    encode: (events) => projection.project(events),
    end: () => doneFrame,
    fail: (thrownError) => {
      const event = {
        type: 'error',
        sequence_number: projection.nextSequence,
        ...errorMembers(responseError(publicError(thrownError))),
      };
      return sseFrame('error', JSON.stringify(event)) + doneFrame;
    },
  };
};

/** Where a resolver notes which events of the log the caller knows. */
export const seenSequenceNote = 'seen-sequence';
