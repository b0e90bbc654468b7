import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import type { SubagentUpdate } from '../../../entities/runs/event.ts';
import { storableText } from '../../../lib/text.ts';
import type { ModelMessage } from '../../models/port.ts';
import { masker } from '../../tools/masking.ts';
import type { CallPass, ServerTools, Tell } from '../../tools/server-tool.ts';
import type { RunTrace } from '../../tracing/run-trace.ts';
import type { RunOutput } from '../answer/output.ts';
import type { RunHold } from '../hold.ts';
import { RunStop } from '../stop.ts';
import { type CallError, OpenCall, type WholeCall } from './open-call.ts';

export interface ServerCallContext {
  readonly output: RunOutput;
  /** The text of the same answer before its calls. */
  readonly said: string | null;
  readonly tools: ServerTools;
  readonly secrets: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Undefined while tracing is off. */
  readonly trace: RunTrace | undefined;
  readonly hold: RunHold;
  /** Prefix of the idempotency keys of the calls. */
  readonly keyPrefix: string;
  /** Asked before each call. @returns why the call is skipped; undefined when it may be made. @throws to end the run. */
  readonly mayStart: () => CallError | undefined;
}
interface Answer {
  readonly text: string;
  readonly error: CallError | null;
}
type Mask = (text: string) => string;

/** Why a call of a service tool was skipped. */
export const skippedCalls = {
  limit: { code: 'max_tool_calls', message: 'Skipped: this run may make no further calls' },
  steered: { code: 'skipped', message: 'Skipped: the user said something else in the meantime' },
} as const satisfies Readonly<Record<string, CallError>>;

/** The error of a call that was under way when its run was ended. */
export const stoppedCall: CallError = { code: 'cancelled', message: 'Stopped: the run ended before this call did' };

/**
 * Makes calls of tools that run in this service, one after the other. Yields messages for the model whenever events may leave. A
 * failed tool answers an error to the model; only the signal, or the loss of the run, ends the run. Every begun call is completed
 * or closed as failed. The tool gets its arguments as the model wrote them; everywhere else their secrets are masked.
 *
 * The event of a call is stored under this process's fence before its tool starts: a process that takes the run over knows of the
 * call, and a process that lost the run cannot start one.
 */
export async function* runServerCalls(
  calls: readonly WholeCall[],
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const { output, tools, said } = context;
  const mask = masker(Object.values(context.secrets));
  const toolCalls = calls.map(({ callId, name, arguments: args }) => ({ id: callId, name, arguments: mask(args) }));
  yield [{ role: 'assistant', content: said, toolCalls }];
  for (const call of calls) {
    const refusal = context.mayStart();
    const open = OpenCall.begin(
      output,
      { ...call, arguments: mask(call.arguments) },
      tools.get(call.name),
      refusal === undefined,
    );
    yield [];
    if (refusal === undefined) yield* answerCall(open, call.arguments, context, signal);
    else {
      open.close({ text: '', error: refusal });
      yield [answerMessage(call, { text: '', error: refusal })];
    }
  }
}

/** Makes a call whose beginning is in the log; yields like `runServerCalls`. */
export async function* answerCall(
  open: OpenCall,
  args: string,
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const mask = masker(Object.values(context.secrets));
  const updates = new Updates();
  const tell: Tell = (told) => {
    open.tell(masked(told, mask));
    updates.arrived();
  };
  let answered: Answer;
  try {
    await context.hold.written(signal);
    const make = () => answer(open, args, context, tell, mask, signal);
    const made = context.trace?.toolCall(open.item, make, ({ error }) => error?.code) ?? make();
    const work = made.finally(() => updates.end());
    // When the caller leaves early it does not wait for the tool: the signal ends the tool.
    work.catch(() => undefined);
    while (await updates.next()) yield [];
    answered = await work;
  } catch (error) {
    open.close({ text: '', error: stoppedCall });
    throw error;
  }
  open.close(answered);
  yield [answerMessage(open.item, answered)];
}

function answerMessage({ callId }: { readonly callId: string }, { text, error }: Answer): ModelMessage {
  return { role: 'tool', toolCallId: callId, content: error === null ? text : `Error: ${error.message}` };
}

async function answer(
  { item, key }: OpenCall,
  args: string,
  { tools, secrets, logger, hold, keyPrefix }: ServerCallContext,
  tell: Tell,
  mask: Mask,
  signal: AbortSignal,
): Promise<Answer> {
  const { name } = item;
  const pass: CallPass = { key: `${keyPrefix}:${key}`, isFresh: () => hold.isFresh(), renew: () => hold.renew() };
  try {
    const text = await tools.get(name)?.run(args, secrets, signal, tell, pass);
    if (text !== undefined) return { text: mask(storableText(text)), error: null };
    return { text: '', error: { code: 'unknown_tool', message: `There is no tool ${name}` } };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RunStop) throw error;
    if (error instanceof DomainError) {
      return { text: '', error: { code: error.code.toLowerCase(), message: mask(error.message) } };
    }
    logger.error({ err: error, tool: name }, 'a tool failed');
    return { text: '', error: { code: 'tool_failed', message: 'The tool failed' } };
  }
}

/** A subagent's progress is masked like every output of a tool. */
function masked(update: SubagentUpdate, mask: Mask): SubagentUpdate {
  switch (update.type) {
    case 'response.subagent.started':
      return { ...update, subagent: { ...update.subagent, task: mask(update.subagent.task) } };
    case 'response.subagent.progress':
      return { ...update, message: mask(update.message) };
    case 'response.subagent.completed': {
      const { task, summary } = update.subagent;
      return { ...update, subagent: { ...update.subagent, task: mask(task), summary: mask(summary) } };
    }
  }
}

/** Lets one reader wait for the progress of a tool. */
class Updates {
  #isThere = false;
  #isOver = false;
  #wake: (() => void) | undefined;

  arrived(): void {
    this.#isThere = true;
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  /** Resolves when there was progress since the last call; false when the tool has finished. */
  async next(): Promise<boolean> {
    if (!this.#isThere && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#isThere = false;
    return !this.#isOver;
  }
}
