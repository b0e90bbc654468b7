import type { RunItem, SubagentUpdate } from '../../../entities/runs/event.ts';
import type { ServerTool } from '../../tools/server-tool.ts';
import type { RunOutput } from '../answer/output.ts';

export type ServerCallItem = Extract<RunItem, { readonly type: 'server_tool_call' }>;

export interface CallError {
  readonly code: string;
  readonly message: string;
}
/** A call of a tool that runs in this service, with the arguments as the model wrote them. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

/** Call ids come from the model. One that is safe in a header may be part of an idempotency key. */
const plainId = /^[\w.:-]{1,128}$/;

/** The output item of a service tool's call, from its beginning to its output. Meanwhile it is the last item of the output. */
export class OpenCall {
  readonly item: ServerCallItem;
  /** Identifies the call in its run: its call id, or the id of its item if the call id is unsafe or repeated. */
  readonly key: string;
  readonly #output: RunOutput;
  readonly #outputIndex: number;
  #isOpen = true;

  /** Use `begin` or `again`. */
  constructor(output: RunOutput, item: ServerCallItem) {
    this.#output = output;
    this.item = item;
    this.#outputIndex = output.items.length;
    const isRepeated = output.items.some((other) => other.type === 'server_tool_call' && other.callId === item.callId);
    this.key = plainId.test(item.callId) && !isRepeated ? item.callId : item.id;
  }

  /** Emits the beginning. @param isMade  whether the call will be made. */
  static begin(output: RunOutput, call: WholeCall, tool: ServerTool | undefined, isMade: boolean): OpenCall {
    const { callId, name, arguments: args } = call;
    const id = output.itemId('serverToolCall');
    const open = new OpenCall(output, { type: 'server_tool_call', id, status: 'in_progress', callId, name, arguments: args });
    const outputIndex = open.#outputIndex;
    output.addItem(open.item, tool === undefined ? [] : [tool.hint]);
    // A tool that does not exist has no effect, so its call may be repeated.
    const ifLost = isMade ? { ifLost: tool?.ifLost ?? 'repeat' } : {};
    output.emit({ type: 'response.server_tool_call.in_progress', outputIndex, itemId: id, ...ifLost });
    return open;
  }

  /** For a call whose beginning is in the log already. */
  static again(output: RunOutput, item: ServerCallItem): OpenCall {
    return new OpenCall(output, item);
  }

  tell(update: SubagentUpdate): void {
    this.#output.emit({ outputIndex: this.#outputIndex, itemId: this.item.id, ...update });
  }

  /** Emits the end and the output of the call, once. */
  close({ text, error }: { readonly text: string; readonly error: CallError | null }): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const output = this.#output;
    const outputIndex = this.#outputIndex;
    const { item } = this;
    const { callId } = item;
    const status = error === null ? 'completed' : 'failed';
    output.emit({ type: `response.server_tool_call.${status}`, outputIndex, itemId: item.id });
    output.finishItem({ ...item, status });
    const result = { type: 'server_tool_call_output', id: output.itemId('serverToolOutput'), callId, error } as const;
    output.addItem({ ...result, status, output: '' });
    output.finishItem({ ...result, status, output: text });
  }
}
