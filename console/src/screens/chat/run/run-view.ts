import type { ParleyError } from '@parley/client';
import type {
  Chat_CitationFragment,
  Chat_FlowStepFragment,
  Chat_ItemFragment,
  Chat_MessageFragment,
  Chat_SubagentFragment,
  ChatRunEventsSubscription,
} from '../documents.ts';

export type RunEvent = ChatRunEventsSubscription['runEvents'];
type EndedRun = Extract<RunEvent, { readonly __typename: 'RunCompleted' }>['run'];

/** Something that a run does between question and answer. */
export type Step =
  | {
      readonly kind: 'retrieval';
      readonly id: string;
      readonly titles: readonly string[];
      /** Passages of documents that the reader may not open. */
      readonly hiddenCount: number;
      readonly isAvailable: boolean;
    }
  | { readonly kind: 'reasoning'; readonly id: string; readonly text: string }
  | { readonly kind: 'call'; readonly id: string; readonly item: CallItem; readonly output: string | undefined }
  | {
      readonly kind: 'subagent';
      readonly id: string;
      readonly subagent: Chat_SubagentFragment;
      readonly message: string | undefined;
      readonly progress: number | undefined;
    }
  | { readonly kind: 'flow'; readonly id: string; readonly step: Chat_FlowStepFragment };

export type CallItem = Extract<Chat_ItemFragment, { readonly callId: string; readonly name: string }>;

/** A run as its events have told it so far. Another object after each change. */
export interface RunView {
  readonly runId: string;
  readonly texts: readonly { readonly id: string; readonly text: string }[];
  readonly steps: readonly Step[];
  readonly citations: readonly Chat_CitationFragment[];
  /** How many messages have joined it. */
  readonly inputCount: number;
  /** What a reader may be shown while nothing else comes. */
  readonly hint: string | undefined;
  /** The run once it is over. */
  readonly ended: EndedRun | undefined;
  /** Its events cannot be read. */
  readonly error: ParleyError | undefined;
}

export const listMessages = (view: RunView): readonly Chat_MessageFragment[] => view.ended?.messages ?? [];

/** Puts the events of a run together. Events must come in order, each once. */
export class RunBuilder {
  readonly #texts = new Map<string, string>();
  readonly #steps = new Map<string, Step>();
  readonly #citations: Chat_CitationFragment[] = [];
  #hint: string | undefined;
  #inputCount = 0;
  #ended: EndedRun | undefined;

  take(event: RunEvent): void {
    switch (event.__typename) {
      case 'TextDelta':
        this.#texts.set(event.itemId, (this.#texts.get(event.itemId) ?? '') + event.delta);
        return;
      case 'TextDone':
        this.#texts.set(event.itemId, event.text);
        return;
      case 'ReasoningDelta': {
        const before = this.#steps.get(event.itemId);
        const text = (before?.kind === 'reasoning' ? before.text : '') + event.delta;
        this.#steps.set(event.itemId, { kind: 'reasoning', id: event.itemId, text });
        return;
      }
      case 'RetrievalCompleted': {
        const id = `retrieval-${event.sequence}`;
        this.#steps.set(id, { kind: 'retrieval', id, titles: event.titles, hiddenCount: 0, isAvailable: event.isAvailable });
        return;
      }
      case 'ItemAdded':
        this.#hint = event.statusHints[0] ?? this.#hint;
        this.takeItem(event.item);
        return;
      case 'ItemDone':
        this.takeItem(event.item);
        return;
      case 'ToolCallCompleted':
      case 'ToolCallFailed':
        if (event.call !== null) this.takeItem(event.call);
        return;
      case 'CitationAdded':
        if (this.#citations.every(({ index }) => index !== event.citation.index)) this.#citations.push(event.citation);
        return;
      case 'InputAdded':
        this.#inputCount += event.messageCount;
        return;
      case 'SubagentStarted':
      case 'SubagentCompleted':
        this.takeSubagent(event.subagent);
        return;
      case 'SubagentProgressed': {
        const step = this.#steps.get(event.subagentId);
        if (step?.kind === 'subagent') {
          this.#steps.set(step.id, { ...step, message: event.message, progress: event.progress ?? undefined });
        }
        return;
      }
      case 'FlowStepCompleted':
        this.takeFlowStep(event.step);
        return;
      case 'RunCompleted':
      case 'RunFailed':
      case 'RunCancelled':
      case 'RunIncomplete':
        this.#ended = event.run;
        return;
    }
  }

  takeItem(item: Chat_ItemFragment): void {
    if (item.__typename === 'ReasoningItem') {
      if (item.text !== '') this.#steps.set(item.id, { kind: 'reasoning', id: item.id, text: item.text });
    } else if (item.__typename === 'ToolOutputItem') {
      const call = this.#findCall(item.callId);
      const output = item.error?.message ?? item.output ?? undefined;
      if (call !== undefined) this.#steps.set(call.id, { ...call, output });
    } else if ('callId' in item && 'name' in item) {
      const before = this.#steps.get(item.id);
      const output = 'output' in item && item.output !== null ? item.output : undefined;
      this.#steps.set(item.id, {
        ...{ kind: 'call', id: item.id, item },
        output: output ?? (before?.kind === 'call' ? before.output : undefined),
      });
    }
  }

  takeSubagent(subagent: Chat_SubagentFragment): void {
    this.#steps.set(subagent.id, { kind: 'subagent', id: subagent.id, subagent, message: undefined, progress: undefined });
  }

  takeFlowStep(step: Chat_FlowStepFragment): void {
    const id = `flow-${step.stepId}`;
    this.#steps.set(id, { kind: 'flow', id, step });
  }

  takeRetrieval(id: string, titles: readonly string[], hiddenCount: number): void {
    this.#steps.set(id, { kind: 'retrieval', id, titles, hiddenCount, isAvailable: true });
  }

  view(runId: string, error: ParleyError | undefined): RunView {
    return {
      runId,
      texts: [...this.#texts].map(([id, text]) => ({ id, text })),
      steps: [...this.#steps.values()],
      citations: [...this.#citations],
      inputCount: this.#inputCount,
      hint: this.#hint,
      ended: this.#ended,
      error,
    };
  }

  #findCall(callId: string): Extract<Step, { readonly kind: 'call' }> | undefined {
    return [...this.#steps.values()].find((step) => step.kind === 'call' && step.item.callId === callId) as
      | Extract<Step, { readonly kind: 'call' }>
      | undefined;
  }
}
