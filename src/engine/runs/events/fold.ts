import { type NewMessage, withTimes } from '../../../entities/conversations/chats/chat.ts';
import { requireAnswer } from '../../../entities/conversations/runs/answer.ts';
import {
  type BegunResearch,
  type FlowStepEvent,
  isLast,
  isPause,
  isTerminal,
  type LostCallRule,
  type RunEvent,
  type RunEventStream,
  type RunItem,
  type RunSnapshot,
  type RunSpent,
  type SpentCall,
  type Subagent,
  type SubagentRecord,
} from '../../../entities/conversations/runs/event.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import type { Citation, Passage } from '../../../entities/knowledge/citation.ts';
import { storableText } from '../../../lib/text/text.ts';
import { SubagentRecords } from './subagent-records.ts';
import type { TranscriptSpan } from './transcript.ts';

/**
 * Adds up the events of a run: for replies in one piece, and for runs whose process died. Any batching of the same events gives the same result.
 *
 * Cost: nothing for a text delta until a snapshot before the end is asked for; the terminal event carries the whole run.
 */
export class RunFold {
  readonly #events: RunEvent[] = [];
  #terminal: RunSnapshot | undefined;
  #doneCount = 0;
  #resumedAt = 0;
  #hasSaid = false;
  #isItemOpen = false;
  /** How many of the inputs came before the pause and are in the chat. */
  #inputsBefore = 0;
  readonly #subagents = new Map<string, Subagent>();
  #spent: Usage | null = null;
  #calls: SpentCall[] = [];
  #told: RunSpent = { rounds: 0, toolCalls: 0, workedMs: 0 };
  /** Tool calls since the log last said what was used. */
  #callsSince = 0;
  #rule: LostCallRule | undefined;
  readonly #flowSteps: FlowStepEvent[] = [];
  readonly #cited: Passage[] = [];
  readonly #researches: BegunResearch[] = [];
  readonly #records = new SubagentRecords();
  /** How many items were closed when the last step of the flow was recorded. */
  #doneAtStep = -1;
  readonly #inputs: { readonly at: number; readonly messages: readonly NewMessage[] }[] = [];

  add(events: readonly RunEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      if (isTerminal(event) && 'run' in event) this.#terminal = event.run;
      else this.#note(event);
    }
  }

  #note(event: RunEvent): void {
    this.#records.note(event);
    switch (event.type) {
      case 'response.in_progress':
        // After a pause too: the run continues.
        this.#terminal = undefined;
        this.#resumedAt = this.#doneCount;
        this.#inputsBefore = this.#inputs.length;
        this.#hasSaid = false;
        this.#spent = event.run.usage;
        this.#calls = [];
        this.#tell(event.run.spent);
        break;
      case 'response.server_tool_call.in_progress':
        this.#rule = event.ifLost;
        if (event.ifLost !== undefined) this.#callsSince += 1;
        break;
      case 'response.output_item.added':
        this.#hasSaid = true;
        this.#isItemOpen = true;
        break;
      case 'response.output_item.done':
        this.#doneCount += 1;
        this.#isItemOpen = false;
        break;
      case 'response.subagent.started':
        this.#subagents.set(event.subagent.id, event.subagent);
        break;
      case 'response.subagent.completed':
        this.#subagents.delete(event.subagent.id);
        break;
      case 'parley.flow.step':
        this.#flowSteps.push(event);
        this.#hasSaid = true;
        this.#doneAtStep = this.#doneCount;
        break;
      case 'parley.cited':
        this.#cited.push(...event.passages);
        break;
      case 'parley.research':
        this.#researches.push({ key: event.key, questions: event.questions });
        break;
      case 'parley.usage':
        this.#spent = event.usage;
        this.#calls.push(...event.calls);
        this.#tell(event.spent);
        break;
      case 'parley.input':
        this.#inputs.push({ at: this.#doneCount, messages: event.messages.map(withTimes) });
        break;
    }
  }

  #tell(totals: RunSpent | undefined): void {
    if (totals === undefined) return;
    this.#told = totals;
    this.#callsSince = 0;
  }

  /** Everything that was added. */
  get events(): readonly RunEvent[] {
    return this.#events;
  }

  /** Used rounds, tool calls and time, as far as the log shows. */
  get used(): RunSpent {
    return { ...this.#told, toolCalls: this.#told.toolCalls + this.#callsSince };
  }

  /** What to do with the tool call that was begun last if its process died; undefined where the log does not say. */
  get lostCallRule(): LostCallRule | undefined {
    return this.#rule;
  }

  /** The finished steps of the run's flow. */
  get flowSteps(): readonly FlowStepEvent[] {
    return this.#flowSteps;
  }

  /** The subagents of the call that is open. */
  get subagentRecords(): readonly SubagentRecord[] {
    return this.#records.all;
  }

  /** The passages that the answer may cite, in the order of their numbers. */
  get cited(): readonly Passage[] {
    return this.#cited;
  }

  /** The calls of `deep_research` that were begun. */
  get researches(): readonly BegunResearch[] {
    return this.#researches;
  }

  /** Whether the log ends behind a finished step of a flow, with nothing begun since. */
  get isBetweenSteps(): boolean {
    return this.#doneAtStep === this.#doneCount && !this.#isItemOpen;
  }

  /** The part of the output that is not in the chat yet, with the messages that others added. */
  get span(): TranscriptSpan {
    return { from: this.#resumedAt, inputs: this.#inputs.slice(this.#inputsBefore) };
  }

  /** The whole output, with all messages that others added. */
  get whole(): TranscriptSpan {
    return { from: 0, inputs: this.#inputs };
  }

  /** The usage of the run since it began, as its log last said it. */
  get usage(): Usage | null {
    return this.#spent;
  }

  /** The model calls in the log since the run began or continued after a pause. */
  get spentCalls(): readonly SpentCall[] {
    return this.#calls;
  }

  /** Subagents that were started and have not ended. */
  get openSubagents(): readonly Subagent[] {
    return [...this.#subagents.values()];
  }

  /** The number of the last event; -1 before the first. */
  get lastSequence(): number {
    return this.#events.at(-1)?.sequence ?? -1;
  }

  /** Whether the model has said anything that a reader may have seen since the run began or continued after a pause. */
  get hasOutput(): boolean {
    return this.#hasSaid;
  }

  /** Whether the run continues after a pause. */
  get isResumed(): boolean {
    return this.#events.some(isPause);
  }

  get isOver(): boolean {
    return this.#terminal !== undefined;
  }

  /** The run as in its terminal event; before that, everything said so far, with open items as `in_progress`. */
  snapshot(): RunSnapshot {
    if (this.#terminal !== undefined) return this.#terminal;
    const items = new Map<number, RunItem>();
    const literals = new Map<number, string[]>();
    const citations = new Map<number, Citation[]>();
    let run: RunSnapshot | undefined;
    for (const event of this.#events) {
      switch (event.type) {
        case 'response.created':
        case 'response.in_progress':
          run = event.run;
          break;
        case 'response.output_item.added':
        case 'response.output_item.done':
          items.set(event.outputIndex, event.item);
          if (event.type === 'response.output_item.done') literals.delete(event.outputIndex);
          break;
        case 'response.output_text.delta':
        case 'response.reasoning_text.delta':
        case 'response.function_call_arguments.delta':
          push(literals, event.outputIndex, event.json.slice(1, -1));
          break;
        case 'response.output_text.annotation.added':
          push(citations, event.outputIndex, event.citation);
          break;
      }
    }
    if (run === undefined) throw new Error('a run starts with response.created');
    const output = [...items.entries()].map(([index, item]) =>
      withSaid(item, literals.get(index) ?? [], citations.get(index) ?? []),
    );
    const { head: _head, ...state } = run;
    return { ...state, output };
  }
}

/** The run at the end of its events. @throws DomainError when it failed or was cancelled. */
export async function finishedRun(events: RunEventStream): Promise<RunSnapshot> {
  const fold = new RunFold();
  for await (const batch of events.batches()) fold.add(batch);
  return requireAnswer(fold.snapshot());
}

function push<T>(lists: Map<number, T[]>, key: number, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** An open item with the text of its deltas. */
function withSaid(item: RunItem, literals: readonly string[], citations: readonly Citation[]): RunItem {
  if (item.status !== 'in_progress') return item;
  const decodedText = storableText(JSON.parse(`"${literals.join('')}"`) as string);
  if (item.type === 'message') return { ...item, text: decodedText, citations };
  if (item.type === 'reasoning') return { ...item, text: decodedText };
  if (item.type === 'function_call') return { ...item, arguments: decodedText };
  return item;
}

/**
 * The events of a run that is over whose fold is its state: its beginning, messages that others added, listings of tools, and its end. What the end
 * records of the work (calls, questions that were searched) is left out, because it is deleted with the events. Undefined: the log has no such end.
 */
export function foldEvents(events: readonly RunEvent[]): readonly RunEvent[] | undefined {
  const [first] = events;
  const last = events.at(-1);
  if (first?.type !== 'response.created' || last === undefined || !isLast(last) || !('run' in last)) return undefined;
  // Added messages have their places between finished items.
  const hasInputs = events.some(({ type }) => type === 'parley.input');
  const between = events.filter(
    (event) =>
      event.type === 'parley.input' ||
      (event.type === 'response.output_item.done' && (hasInputs || event.item.type === 'mcp_list_tools')),
  );
  const { record: _record, ...run } = last.run;
  return [first, ...between, { ...last, run }];
}
