import type {
  BegunResearch,
  EndedSubagent,
  LostCallRule,
  RunEvent,
  RunItem,
  ServerCallItem,
  Subagent,
  SubagentRecord,
} from '../../../entities/conversations/runs/event.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';

/** The summary of a subagent that was cut off. */
export const stoppedSummary = 'Stopped before it came to its end';

/** Where a subagent goes on. */
export interface SubagentState {
  /** Its closed items up to its last outcome, or up to the call under way. */
  readonly closed: readonly RunItem[];
  /** Its call that was under way; undefined: its model is asked next. */
  readonly call: ServerCallItem | undefined;
  readonly ifLost: LostCallRule | undefined;
  readonly cited: readonly Passage[];
  readonly researches: readonly BegunResearch[];
  /** Those that its call under way had started. */
  readonly subagents: readonly SubagentRecord[];
  readonly nextSequence: number;
}

/** Whether an event of a subagent is kept: its calls, its closed items, what it may cite, and its own subagents. Texts are in closed items. */
export function isSubagentRecord(event: RunEvent): boolean {
  switch (event.type) {
    case 'response.output_item.added':
      return event.item.type === 'server_tool_call';
    case 'response.output_item.done':
    case 'response.server_tool_call.in_progress':
    case 'response.subagent.started':
    case 'response.subagent.completed':
    case 'parley.subagent.kept':
    case 'parley.research':
    case 'parley.cited':
      return true;
    default:
      return false;
  }
}

/** Collects what is kept of the subagents of the call that is open. */
export class SubagentRecords {
  readonly #kept = new Map<string, { subagent: Subagent; ended: EndedSubagent | undefined; events: RunEvent[] }>();

  note(event: RunEvent): void {
    switch (event.type) {
      case 'response.subagent.started':
        this.#kept.set(event.subagent.id, { subagent: event.subagent, ended: undefined, events: [] });
        break;
      case 'parley.subagent.kept':
        this.#kept.get(event.subagentId)?.events.push(...event.events);
        break;
      case 'response.subagent.completed': {
        const record = this.#kept.get(event.subagent.id);
        if (record !== undefined) record.ended = event.subagent;
        break;
      }
      case 'response.output_item.done':
        this.#kept.clear();
        break;
    }
  }

  get all(): readonly SubagentRecord[] {
    return [...this.#kept.values()].map((record) => ({ ...record, events: [...record.events] }));
  }
}

/** The state in which a dead process left a subagent. What its model said last, and nothing followed, is said anew. */
export function foldState(events: readonly RunEvent[]): SubagentState {
  const items: RunItem[] = [];
  const citedPassages: Passage[] = [];
  const researches: BegunResearch[] = [];
  const subagents = new SubagentRecords();
  let ifLost: LostCallRule | undefined;
  for (const event of events) {
    subagents.note(event);
    if (event.type === 'response.output_item.added' || event.type === 'response.output_item.done') {
      // A process that went on left out what stood behind this place.
      items.splice(event.outputIndex, Number.POSITIVE_INFINITY, event.item);
    } else if (event.type === 'response.server_tool_call.in_progress') ifLost = event.ifLost;
    else if (event.type === 'parley.cited') citedPassages.push(...event.passages);
    else if (event.type === 'parley.research') researches.push({ key: event.key, questions: event.questions });
  }
  const last = items.at(-1);
  const nextSequence = (events.at(-1)?.sequence ?? -1) + 1;
  const state = { ifLost, cited: citedPassages, researches, subagents: subagents.all, nextSequence };
  if (last?.type === 'server_tool_call' && last.status === 'in_progress') {
    return { ...state, closed: items.slice(0, -1), call: last };
  }
  return { ...state, closed: items.slice(0, items.findLastIndex(isOutcome) + 1), call: undefined };
}

function isOutcome(item: RunItem): boolean {
  if (item.type === 'server_tool_call') return item.form !== undefined;
  return item.type === 'server_tool_call_output' || item.type === 'mcp_list_tools';
}
