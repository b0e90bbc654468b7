import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import type { SubagentNews } from '../../../entities/runs/event.ts';
import { storableText } from '../../../lib/text.ts';
import type { ModelMessage } from '../../models/port.ts';
import { masker } from '../../tools/masking.ts';
import type { CallPass, ServerTools, Tell } from '../../tools/server-tool.ts';
import type { RunOutput } from '../answer/output.ts';
import type { RunHold } from '../hold.ts';
import { RunStop } from '../stop.ts';
import { type CallError, OpenCall, type WholeCall } from './open-call.ts';

export interface ServerCallContext {
  readonly output: RunOutput;
  /** The text of the same answer, before its calls. */
  readonly said: string | null;
  readonly tools: ServerTools;
  readonly secrets: Readonly<Record<string, string>>;
  readonly logger: Logger;
  readonly hold: RunHold;
  /** What the idempotency keys of its calls begin with. */
  readonly keyPrefix: string;
  /** Asked before each call: why it is not made, if so. May throw to end the run there. */
  readonly mayStart: () => CallError | undefined;
}
interface Answer {
  readonly text: string;
  readonly error: CallError | null;
}
type Mask = (text: string) => string;

/** Why a call of a tool of the service was not made. */
export const skippedCalls = {
  limit: { code: 'max_tool_calls', message: 'Skipped: this run may make no further calls' },
  steered: { code: 'skipped', message: 'Skipped: the user said something else in the meantime' },
} as const satisfies Readonly<Record<string, CallError>>;

/** Of a call that was begun when its run was ended. */
export const stoppedCall: CallError = { code: 'cancelled', message: 'Stopped: the run ended before this call did' };

/**
 * Answers the calls of tools that run here, one after the other, and yields the messages that tell the model, whenever events may leave. A
 * tool that fails answers an error to the model; only the signal, or the loss of the run, ends it. A call that was begun is brought to its end, or is
 * closed as failed. The tool is given its arguments as the model wrote them; everywhere else secrets in them are masked.
 *
 * Before a tool starts, the event that tells of its call is stored under the fence of this process: so whoever takes the run over knows of it, and
 * a process that lost the run cannot begin one.
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

/** Makes a call whose beginning is in the log, and yields as `runServerCalls` does. */
export async function* answerCall(
  open: OpenCall,
  args: string,
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const mask = masker(Object.values(context.secrets));
  const news = new News();
  const tell: Tell = (told) => {
    open.tell(masked(told, mask));
    news.arrived();
  };
  let answered: Answer;
  try {
    await context.hold.written(signal);
    const work = answer(open, args, context, tell, mask, signal).finally(() => news.end());
    // Whoever leaves in the middle does not wait for it: the signal ends it.
    work.catch(() => undefined);
    while (await news.next()) yield [];
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

/** What a subagent shows goes the way of every output of a tool. */
function masked(news: SubagentNews, mask: Mask): SubagentNews {
  switch (news.type) {
    case 'response.subagent.started':
      return { ...news, subagent: { ...news.subagent, task: mask(news.subagent.task) } };
    case 'response.subagent.progress':
      return { ...news, message: mask(news.message) };
    case 'response.subagent.completed': {
      const { task, summary } = news.subagent;
      return { ...news, subagent: { ...news.subagent, task: mask(task), summary: mask(summary) } };
    }
  }
}

/** Lets one reader wait for what a tool tells while it works. */
class News {
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

  /** Resolves when there is something since the last time; false once nothing more comes. */
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
