import type { Logger } from 'pino';
import type { AssistantMessage, ModelMessage, ModelTool } from '../../models/port.ts';
import type { RunFiles } from '../../tools/run-files.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
import type { CallPass, ServerTool, ServerTools, Tell } from '../../tools/server-tool.ts';
import type { RunTrace } from '../../tracing/run-trace.ts';
import type { RunHold } from '../control/control.ts';
import { toolImages } from '../events/tool-images.ts';
import type { RunOutput } from '../output/output.ts';
import type { RunRecorder } from '../record/recorder.ts';
import { callTool } from './call-tool.ts';
import { type CallEnd, type CallError, OpenCall, type WholeCall } from './open-call.ts';

export interface ServerCallContext {
  readonly output: RunOutput;
  /** What the same answer thought and said before its calls. */
  readonly said: readonly AssistantMessage[];
  readonly tools: ServerTools;
  readonly secrets: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Of the secrets; undefined for none. */
  readonly mask: RunMask | undefined;
  /** Readers of the run do not see what calls return. */
  readonly hidesOutputs: boolean;
  /** Undefined while tracing is off. */
  readonly trace: RunTrace | undefined;
  readonly recorder: RunRecorder;
  /** The subagent that makes the calls; undefined: the run itself. */
  readonly subagentId: string | undefined;
  readonly hold: RunHold;
  readonly files: RunFiles;
  /** Prefix of the idempotency keys of the calls. */
  readonly keyPrefix: string;
  /** Asked before each call. @returns why the call is skipped; undefined when it may be made. @throws to end the run. */
  readonly mayStart: () => CallError | undefined;
  /** Whether the run may still ask a person for approval. */
  readonly mayAsk: () => boolean;
  /** Notes a call that waits for approval, under the id that the answer names. */
  readonly ask: (id: string, definition: ModelTool) => Promise<void>;
}
type Answer = CallEnd;

/** Why a call of a service tool was skipped. */
export const skippedCalls = {
  limit: { code: 'max_tool_calls', message: 'Skipped: this run may make no further calls' },
  steered: { code: 'skipped', message: 'Skipped: the user said something else in the meantime' },
} as const satisfies Readonly<Record<string, CallError>>;

/** The error of a call that was under way when its run was ended. */
export const stoppedCall: CallError = { code: 'cancelled', message: 'Stopped: the run ended before this call did' };

/**
 * Makes calls of tools that run in this service. Calls without effects outside that stand beside each other work at once; the others one after the
 * other. Their items follow each other in any case. Yields messages for the model whenever events may leave. A failed tool answers an error to the
 * model; only the signal, or the loss of the run, ends the run. Every begun call is completed or closed as failed. The tool gets its arguments as
 * the model wrote them; everywhere else their secrets are masked (what the output gets, the output masks). A call that needs approval becomes a call for the caller to answer.
 *
 * The event of a call with effects is stored under this process's fence before its tool starts: a process that takes the run over knows of the
 * call, and a process that lost the run cannot start one.
 */
export async function* runServerCalls(
  calls: readonly WholeCall[],
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const { output, tools, said: priorMessages } = context;
  const mask = (text: string) => context.mask?.text(text) ?? text;
  const shownCalls = calls.map((call) => ({ ...call, arguments: mask(call.arguments) }));
  const toolCalls = shownCalls.map(({ callId, name, arguments: args, origin }) => {
    const call = { id: callId, name, arguments: args };
    return origin === undefined ? call : { ...call, origin };
  });
  yield [...priorMessages.slice(0, -1), { role: 'assistant', content: null, ...priorMessages.at(-1), toolCalls }];
  for (const group of groupCalls(calls, tools)) {
    const preparedCalls: OpenCall[] = [];
    const approvalRequests: Promise<void>[] = [];
    const begunCalls = group.map((call): BegunCall | undefined => {
      const tool = tools.get(call.name);
      const whole = { ...call, arguments: mask(call.arguments) };
      if (tool?.requiresApproval === true && call.isApproved !== true && context.mayAsk()) {
        approvalRequests.push(context.ask(askApproval(output, whole, tool), tool.definition));
        return undefined;
      }
      const refusal = context.mayStart();
      const open = OpenCall.prepare(output, whole, tool, preparedCalls);
      preparedCalls.push(open);
      const work = refusal === undefined && group.length > 1 ? new ToolWork(open, call.arguments, context, signal) : undefined;
      return { call, open, refusal, work };
    });
    await Promise.all(approvalRequests);
    for (const one of begunCalls) if (one !== undefined) yield* finishCall(one, context, signal);
  }
}

interface BegunCall {
  readonly call: WholeCall;
  readonly open: OpenCall;
  /** Why it is not made. */
  readonly refusal: CallError | undefined;
  /** Present when it works already. */
  readonly work: ToolWork | undefined;
}

async function* finishCall(
  { call, open, refusal, work }: BegunCall,
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  open.begin(context.tools.get(call.name), refusal === undefined);
  yield [];
  if (refusal === undefined) {
    yield* answerCall(open, call.arguments, context, signal, work);
    return;
  }
  const end = { output: '', error: refusal };
  open.close(end);
  yield [answerMessage(call, end)];
}

/** Neighbours that may work at once stand in one group; each other call is a group of its own. */
function groupCalls(calls: readonly WholeCall[], tools: ServerTools): readonly (readonly WholeCall[])[] {
  const groups: WholeCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const tool = tools.get(call.name);
    const isFree = tool !== undefined && tool.ifLost !== 'unknown' && tool.isSequential !== true;
    if (isFree && isOpen) groups.at(-1)?.push(call);
    else groups.push([call]);
    isOpen = isFree;
  }
  return groups;
}

/**
 * Emits the call as one that the caller answers: with `success` it is made, with `cancelled` it is not. Its id is the service's, because the ids of
 * models repeat, and the common format answers a request for approval by the id of its item.
 *
 * @returns that id.
 */
function askApproval(output: RunOutput, { name, arguments: args, origin }: WholeCall, tool: ServerTool): string {
  const form = tool.form?.(args);
  const id = output.itemId('mcpApproval');
  const more = { ...(form === undefined ? {} : { form }), ...(origin === undefined ? {} : { origin }) };
  const call = { type: 'function_call', id, callId: id, name, approval: true, ...more } as const;
  const outputIndex = output.addItem({ ...call, status: 'in_progress', arguments: '' });
  output.emit({ type: 'response.function_call_arguments.delta', outputIndex, itemId: id, json: JSON.stringify(args) });
  output.emit({ type: 'response.function_call_arguments.done', outputIndex, itemId: id, name, arguments: args });
  output.finishItem({ ...call, status: 'completed', arguments: args });
  return id;
}

/**
 * Makes a call whose beginning is in the log; yields like `runServerCalls`.
 *
 * @param work  the call, where it works already.
 */
export async function* answerCall(
  open: OpenCall,
  args: string,
  context: ServerCallContext,
  signal: AbortSignal,
  work?: ToolWork,
): AsyncGenerator<readonly ModelMessage[]> {
  let callEnd: Answer;
  try {
    const { form } = open.item;
    await context.hold.written(signal, form?.type === 'web_search' || form?.type === 'file_search');
    const working = work ?? new ToolWork(open, args, context, signal);
    while (await working.updates.next()) yield [];
    callEnd = await working.answer;
  } catch (error) {
    open.close({ output: '', error: stoppedCall });
    throw error;
  }
  open.close(callEnd);
  const { callId } = open.item;
  yield [answerMessage(open.item, callEnd), ...toolImages(callId, callEnd.files)];
}

/** A call at work. */
class ToolWork {
  readonly updates = new Updates();
  readonly answer: Promise<Answer>;

  constructor(open: OpenCall, args: string, context: ServerCallContext, signal: AbortSignal) {
    const tell: Tell = (update) => {
      open.tell(update);
      this.updates.arrived();
    };
    const make = () => answer(open, args, context, { tell, whenRecorded: () => this.updates.taken() }, signal);
    const callEnd = recorded(open, context, () => context.trace?.toolCall(open.item, make, ({ error }) => error?.code) ?? make());
    this.answer = callEnd.finally(() => this.updates.end());
    // A caller that leaves early does not wait for the tool: the signal ends the tool.
    this.answer.catch(() => undefined);
  }
}

async function recorded(
  { item }: OpenCall,
  { recorder, subagentId }: ServerCallContext,
  make: () => Promise<Answer>,
): Promise<Answer> {
  const startedMs = performance.now();
  let errorCode: string | null = stoppedCall.code;
  try {
    const callEnd = await make();
    errorCode = callEnd.error?.code ?? null;
    return callEnd;
  } finally {
    recorder.toolCall(item, startedMs, errorCode, subagentId);
  }
}

function answerMessage({ callId }: { readonly callId: string }, { output, error }: Answer): ModelMessage {
  return { role: 'tool', toolCallId: callId, content: error === null ? output : `Error: ${error.message}` };
}

async function answer(
  { item, key, records }: OpenCall,
  args: string,
  { tools, secrets, logger, mask, hidesOutputs, hold, keyPrefix, files }: ServerCallContext,
  { tell, whenRecorded }: { readonly tell: Tell; readonly whenRecorded: () => Promise<void> },
  signal: AbortSignal,
): Promise<Answer> {
  const { name } = item;
  const ofHold = { isFresh: () => hold.isFresh(), renew: () => hold.renew() };
  const pass: CallPass = { key: `${keyPrefix}:${key}`, ...ofHold, whenRecorded, before: records };
  const callEnd = await callTool({ name, tool: tools.get(name), args }, { secrets, logger, mask, tell, files, pass }, signal);
  return hidesOutputs && callEnd.error === null ? { ...callEnd, isHidden: true } : callEnd;
}

/** Lets one reader wait for the progress of a tool. */
class Updates {
  #isThere = false;
  #isOver = false;
  #wake: (() => void) | undefined;
  #waiting: (() => void)[] = [];

  arrived(): void {
    this.#isThere = true;
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** Resolves once the reader has come back for more with nothing left: it has all that arrived before. */
  taken(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.arrived();
    });
  }

  /** Resolves when there was progress since the last call; false when the tool has finished. */
  async next(): Promise<boolean> {
    if (!this.#isThere) {
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const resolve of waiting) resolve();
    }
    if (!this.#isThere && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isThere = false;
    return !this.#isOver;
  }
}
