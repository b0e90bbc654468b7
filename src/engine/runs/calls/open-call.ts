import type {
  CallResult,
  RunItem,
  ServerCallItem,
  Subagent,
  SubagentRecord,
  SubagentUpdate,
} from '../../../entities/conversations/runs/event.ts';
import type { CallOrigin } from '../../../entities/conversations/runs/thought.ts';
import type { CallForm } from '../../../entities/conversations/runs/tool.ts';
import type { IdKind } from '../../../entities/ground/ids.ts';
import type { ServerTool } from '../../tools/server-tool.ts';
import { stoppedSummary } from '../events/subagent-records.ts';
import type { RunOutput } from '../output/output.ts';

export interface CallError {
  readonly code: string;
  readonly message: string;
}
/** A call of a tool that runs in this service, with the arguments as the model wrote them. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  /** A person approved it. */
  readonly isApproved?: true;
  /** Absent for a call that no model asked for just now. */
  readonly origin?: CallOrigin;
}

/** How a call ended. */
export interface CallEnd extends CallResult {
  /** Replaces the form that the call began with. */
  readonly form?: CallForm;
}

/** Call ids come from the model. One that is safe in a header may be part of an idempotency key. */
const plainId = /^[\w.:-]{1,128}$/;

/**
 * The output item of a service tool's call. Calls may work at once, but their items follow each other: from `begin` to `close`, the item is the
 * last of the output.
 */
export class OpenCall {
  readonly item: ServerCallItem;
  /** Identifies the call in its run: its call id, or the id of its item if the call id is unsafe or repeated. */
  readonly key: string;
  readonly #output: RunOutput;
  #outputIndex: number;
  #state: 'waiting' | 'open' | 'closed';
  /** What is kept of its subagents, for a call that is made again. */
  readonly records: readonly SubagentRecord[];
  /** Subagents that were started and have not ended. */
  readonly #subagents = new Map<string, Subagent>();
  /** Progress that arrived before the item was opened. */
  #early: SubagentUpdate[] = [];

  /** Use `prepare` or `again`. */
  constructor(
    output: RunOutput,
    item: ServerCallItem,
    state: 'waiting' | 'open',
    others: readonly RunItem[],
    records: readonly SubagentRecord[] = [],
  ) {
    this.records = records;
    for (const { subagent, ended: ending } of records) if (ending === undefined) this.#subagents.set(subagent.id, subagent);
    this.#output = output;
    this.item = item;
    this.#state = state;
    this.#outputIndex = output.items.length;
    const isRepeated = others.some((other) => other.type === 'server_tool_call' && other.callId === item.callId);
    this.key = plainId.test(item.callId) && !isRepeated ? item.callId : item.id;
  }

  /** A call that is not in the log yet. @param earlier  calls of the same answer that are prepared already. */
  static prepare(output: RunOutput, call: WholeCall, tool: ServerTool | undefined, earlier: readonly OpenCall[]): OpenCall {
    const { callId, name, arguments: args, isApproved, origin } = call;
    const form = tool?.form?.(args);
    const item: ServerCallItem = {
      ...{ type: 'server_tool_call', id: output.itemId(findIdKind(form)), status: 'in_progress', callId, name, arguments: args },
      ...(form === undefined ? {} : { form }),
      ...(isApproved === true ? { isApproved } : {}),
      ...(origin === undefined ? {} : { origin }),
    };
    return new OpenCall(output, item, 'waiting', [...output.items, ...earlier.map((other) => other.item)]);
  }

  /** For a call whose beginning is in the log already. */
  static again(output: RunOutput, item: ServerCallItem, records?: readonly SubagentRecord[]): OpenCall {
    return new OpenCall(output, item, 'open', output.items, records);
  }

  /** Emits the beginning. @param isMade  whether the call is made. */
  begin(tool: ServerTool | undefined, isMade: boolean): void {
    const output = this.#output;
    this.#state = 'open';
    this.#outputIndex = output.items.length;
    output.addItem(this.item, tool === undefined ? [] : [tool.hint]);
    // A tool that does not exist has no effect, so its call may be repeated.
    const ifLost = isMade ? { ifLost: tool?.ifLost ?? 'repeat' } : {};
    output.emit({
      type: 'response.server_tool_call.in_progress',
      outputIndex: this.#outputIndex,
      itemId: this.item.id,
      ...ifLost,
    });
    for (const update of this.#early) this.#emit(update);
    this.#early = [];
  }

  tell(update: SubagentUpdate): void {
    if (this.#state === 'waiting') this.#early.push(update);
    else if (this.#state === 'open') this.#emit(update);
  }

  #emit(update: SubagentUpdate): void {
    if (update.type === 'response.subagent.started') this.#subagents.set(update.subagent.id, update.subagent);
    else if (update.type === 'response.subagent.completed') this.#subagents.delete(update.subagent.id);
    this.#output.emit({ outputIndex: this.#outputIndex, itemId: this.item.id, ...update });
  }

  /** Emits the end and the output of the call, once. */
  close({ form: lastForm, ...result }: CallEnd): void {
    if (this.#state !== 'open') return;
    // Those of a dead process that were not gone on with.
    for (const subagent of [...this.#subagents.values()].toReversed()) {
      const stoppedSubagent = { ...subagent, status: 'cancelled', summary: stoppedSummary, usage: null } as const;
      this.#emit({ type: 'response.subagent.completed', subagent: stoppedSubagent });
    }
    this.#state = 'closed';
    const output = this.#output;
    const outputIndex = this.#outputIndex;
    const { item } = this;
    const { callId } = item;
    const status = result.error === null ? 'completed' : 'failed';
    output.emit({ type: `response.server_tool_call.${status}`, outputIndex, itemId: item.id });
    if (item.form !== undefined) {
      output.finishItem({ ...item, status, form: lastForm ?? item.form, result });
      return;
    }
    output.finishItem({ ...item, status });
    const answer = {
      type: 'server_tool_call_output',
      id: output.itemId('serverToolOutput'),
      callId,
      error: result.error,
    } as const;
    output.addItem({ ...answer, status, output: '' });
    output.finishItem({ ...answer, ...result, status });
  }
}

function findIdKind(form: CallForm | undefined): IdKind {
  if (form === undefined) return 'serverToolCall';
  return form.type === 'mcp' ? 'mcpCall' : form.type === 'web_search' ? 'webSearchCall' : 'fileSearchCall';
}
