import type { RunItem, SubagentNews } from '../../../entities/runs/event.ts';
import type { ServerTool } from '../../tools/server-tool.ts';
import type { RunOutput } from '../answer/output.ts';

export type ServerCallItem = Extract<RunItem, { readonly type: 'server_tool_call' }>;

export interface CallError {
  readonly code: string;
  readonly message: string;
}
/** A call of a tool that runs here, its arguments as the model wrote them. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
}

/** Call ids are the model's words. One that a header takes as it is may stand in a key. */
const plainId = /^[\w.:-]{1,128}$/;

/** The item of a call of a tool of the service, from its beginning to its output. It is the last item of the output meanwhile. */
export class OpenCall {
  readonly item: ServerCallItem;
  /** Names the call in its run: its call id, or the id of its item where the call id is odd or was there before. */
  readonly key: string;
  readonly #output: RunOutput;
  readonly #outputIndex: number;
  #isOpen = true;

  /** Called by `begin` and `again`. */
  constructor(output: RunOutput, item: ServerCallItem) {
    this.#output = output;
    this.item = item;
    this.#outputIndex = output.items.length;
    const isRepeated = output.items.some((other) => other.type === 'server_tool_call' && other.callId === item.callId);
    this.key = plainId.test(item.callId) && !isRepeated ? item.callId : item.id;
  }

  /** Emits the beginning. @param isMade  whether the call is going to be made. */
  static begin(output: RunOutput, call: WholeCall, tool: ServerTool | undefined, isMade: boolean): OpenCall {
    const { callId, name, arguments: args } = call;
    const id = output.itemId('serverToolCall');
    const open = new OpenCall(output, { type: 'server_tool_call', id, status: 'in_progress', callId, name, arguments: args });
    const { outputIndex } = open;
    output.addItem(open.item, tool === undefined ? [] : [tool.hint]);
    // Whatever is not there has no effect.
    const ifLost = isMade ? { ifLost: tool?.ifLost ?? 'repeat' } : {};
    output.emit({ type: 'response.server_tool_call.in_progress', outputIndex, itemId: id, ...ifLost });
    return open;
  }

  /** Of a call whose beginning is in the log already. */
  static again(output: RunOutput, item: ServerCallItem): OpenCall {
    return new OpenCall(output, item);
  }

  tell(news: SubagentNews): void {
    this.#output.emit({ outputIndex: this.#outputIndex, itemId: this.item.id, ...news });
  }

  /** Emits its end and its output, once. */
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
