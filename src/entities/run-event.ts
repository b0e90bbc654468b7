import type { NewMessage } from './chat.ts';
import type { Citation } from './citation.ts';
import type { ErrorCode } from './errors.ts';
import type { ResponseHead } from './response.ts';

export const runStatuses = ['in_progress', 'completed', 'failed', 'incomplete', 'cancelled'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

export interface SelectionMetadata {
  readonly provider: string;
  readonly model: string;
  readonly fallbackChain: readonly { readonly provider: string; readonly model: string; readonly reason: string }[];
  readonly latencyHints: { readonly queueMs: number; readonly firstTokenMs: number | null };
}

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
}

export type RunItem =
  | {
      readonly type: 'message';
      readonly id: string;
      readonly status: ItemStatus;
      readonly text: string;
      readonly citations: readonly Citation[];
    }
  | {
      readonly type: 'function_call';
      readonly id: string;
      readonly status: ItemStatus;
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: 'reasoning'; readonly id: string; readonly status: ItemStatus; readonly text: string }
  | {
      readonly type: 'server_tool_call';
      readonly id: string;
      readonly status: ItemStatus | 'failed';
      readonly callId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'server_tool_call_output';
      readonly id: string;
      readonly status: 'completed' | 'failed';
      readonly callId: string;
      readonly output: string;
      readonly error: { readonly code: string; readonly message: string } | null;
    };
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The state of a run as its lifecycle events carry it. */
export interface RunSnapshot {
  readonly runId: string;
  readonly status: RunStatus;
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | 'paused' | null;
  readonly error: RunError | null;
  readonly usage: Usage | null;
  readonly selection: SelectionMetadata | null;
  readonly output: readonly RunItem[];
  /** With the end of a run that completed: milliseconds since the epoch. */
  readonly completedAtMs?: number;
  /** On `response.created` of a response only: what all its frames repeat. */
  readonly head?: ResponseHead;
}

/**
 * The one vocabulary of every run, named after the responses format, the richest of the three wires. `sequence` starts at 0 and grows
 * by one without gaps; exactly one terminal event ends a run. `json` members are JSON string literals, quotes included, so the hot
 * path never decodes text (see engine/models/port.ts).
 */
export type RunEvent = { readonly sequence: number } & RunEventBody;
export type RunEventBody =
  | { readonly type: 'response.created'; readonly run: RunSnapshot }
  | { readonly type: 'response.in_progress'; readonly run: RunSnapshot }
  | {
      readonly type: 'response.output_item.added';
      readonly outputIndex: number;
      readonly item: RunItem;
      readonly statusHints?: readonly string[];
    }
  | { readonly type: 'response.content_part.added'; readonly outputIndex: number; readonly itemId: string }
  | { readonly type: 'response.output_text.delta'; readonly outputIndex: number; readonly itemId: string; readonly json: string }
  | {
      readonly type: 'response.output_text.annotation.added';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly citation: Citation;
    }
  | { readonly type: 'response.output_text.done'; readonly outputIndex: number; readonly itemId: string; readonly text: string }
  | {
      readonly type: 'response.content_part.done';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly text: string;
      readonly citations: readonly Citation[];
    }
  | {
      readonly type: 'response.reasoning_text.delta';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly json: string;
    }
  | {
      readonly type: 'response.function_call_arguments.delta';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly json: string;
    }
  | {
      readonly type: 'response.function_call_arguments.done';
      readonly outputIndex: number;
      readonly itemId: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: 'response.server_tool_call.in_progress'; readonly outputIndex: number; readonly itemId: string }
  | { readonly type: 'response.server_tool_call.completed'; readonly outputIndex: number; readonly itemId: string }
  | { readonly type: 'response.server_tool_call.failed'; readonly outputIndex: number; readonly itemId: string }
  | { readonly type: 'response.output_item.done'; readonly outputIndex: number; readonly item: RunItem }
  /** Retrieval and other work between model calls; shown only where the agent shows intermediate steps. */
  | { readonly type: 'parley.step'; readonly name: string; readonly detail: Readonly<Record<string, unknown>> }
  /** Others put messages into the running turn (thread mode steer): what they add to the chat stands here, at its place. */
  | { readonly type: 'parley.input'; readonly messages: readonly NewMessage[] }
  | { readonly type: 'response.completed'; readonly run: RunSnapshot }
  | { readonly type: 'response.failed'; readonly run: RunSnapshot }
  /** Also ends a cancelled run: `run.status` is then `cancelled`. */
  | { readonly type: 'response.incomplete'; readonly run: RunSnapshot };

/** Whether a run stops with it. One that was paused may go on behind it: see `isLast`. */
export function isTerminal(event: RunEvent): boolean {
  return event.type === 'response.completed' || event.type === 'response.failed' || event.type === 'response.incomplete';
}

/** Whether nothing can follow in the log, unless a paused run is cancelled. */
export function isLast(event: RunEvent): boolean {
  return isTerminal(event) && !isPause(event);
}

export function isPause(event: RunEvent): boolean {
  return event.type === 'response.incomplete' && event.run.incompleteReason === 'paused';
}

/** Events as the engine hands them on: those that arrived together stay together, so they can leave in one write. */
export interface RunEventStream extends AsyncIterable<RunEvent> {
  batches(): AsyncIterable<readonly RunEvent[]>;
}
