import type { ItemStatus, RunEventBody, RunItem } from '../../../entities/conversations/runs/event.ts';
import type { CallOrigin } from '../../../entities/conversations/runs/thought.ts';
import { decodeLiteral } from './literal.ts';

/** Receives the calls as items and events. */
interface CallOutput {
  itemId(kind: 'functionCall'): string;
  addItem(item: RunItem): number;
  finishItem(item: RunItem): void;
  emit(body: RunEventBody): void;
}

interface PendingCall {
  readonly callId: string;
  readonly name: string;
  readonly origin: CallOrigin | undefined;
  /** Arguments so far, as the inside of a JSON string literal. */
  literal: string;
  /** Set once the item is open, which it is for the first call of the queue only. */
  opened: { readonly id: string; readonly outputIndex: number } | undefined;
}

/**
 * Emits tool calls one after the other, never interleaved: many clients add arguments to the last call they saw. If an upstream
 * interleaves calls, the first one streams and the others wait until its arguments are complete.
 */
export class CallQueue {
  readonly #output: CallOutput;
  readonly #byIndex = new Map<number, PendingCall>();
  readonly #queue: PendingCall[] = [];

  constructor(output: CallOutput) {
    this.#output = output;
  }

  start(index: number, callId: string, name: string, origin: CallOrigin | undefined): void {
    const call: PendingCall = { callId, name, origin, literal: '', opened: undefined };
    this.#byIndex.set(index, call);
    this.#queue.push(call);
    this.#advance();
  }

  append(index: number, inside: string): void {
    const call = this.#byIndex.get(index);
    if (call === undefined || inside === '') return;
    call.literal += inside;
    if (call.opened !== undefined && call === this.#queue[0]) {
      this.#delta(call.opened, inside);
      if (this.#queue.length > 1) this.#advance();
    }
  }

  /** Closes all calls, in the order they were started. */
  closeAll(status: ItemStatus): void {
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      this.#open(first);
      const isCut = status !== 'completed' && (this.#queue.length === 1 || !isWhole(first.literal));
      this.#close(first, isCut ? status : 'completed');
    }
    this.#byIndex.clear();
  }

  /** Opens the first call, and closes it once another call waits and its own arguments are complete JSON. */
  #advance(): void {
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      this.#open(first);
      if (this.#queue.length === 1 || !isWhole(first.literal)) return;
      this.#close(first, 'completed');
    }
  }

  #open(call: PendingCall): void {
    if (call.opened !== undefined) return;
    const id = this.#output.itemId('functionCall');
    const { callId, name } = call;
    const outputIndex = this.#output.addItem({ type: 'function_call', id, status: 'in_progress', callId, name, arguments: '' });
    call.opened = { id, outputIndex };
    if (call.literal !== '') this.#delta(call.opened, call.literal);
  }

  #close(call: PendingCall, status: ItemStatus): void {
    this.#queue.shift();
    if (call.opened === undefined) return;
    const { id, outputIndex } = call.opened;
    const { callId, name, origin } = call;
    // A tool without parameters: clients parse the arguments, and '' is not JSON.
    if (call.literal === '' && status === 'completed') {
      call.literal = '{}';
      this.#delta(call.opened, '{}');
    }
    const args = decodeLiteral(call.literal);
    this.#output.emit({ type: 'response.function_call_arguments.done', outputIndex, itemId: id, name, arguments: args });
    const more = origin === undefined ? {} : { origin };
    this.#output.finishItem({ type: 'function_call', id, status, callId, name, arguments: args, ...more });
  }

  #delta({ id, outputIndex }: { readonly id: string; readonly outputIndex: number }, inside: string): void {
    this.#output.emit({ type: 'response.function_call_arguments.delta', outputIndex, itemId: id, json: `"${inside}"` });
  }
}

function isWhole(literal: string): boolean {
  if (literal === '') return false;
  try {
    JSON.parse(decodeLiteral(literal));
    return true;
  } catch {
    return false;
  }
}
