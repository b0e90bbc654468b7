import type { Logger } from 'pino';
import { DomainError } from '../../entities/errors.ts';
import type { SubagentNews } from '../../entities/run-event.ts';
import { storableText } from '../../lib/text.ts';
import type { ModelMessage } from '../models/port.ts';
import { masker } from '../tools/masking.ts';
import type { ServerTools, Tell } from '../tools/server-tool.ts';
import type { ModelCall, ServerCall } from './model-call.ts';
import { decodeLiteral, type RunOutput } from './output.ts';

interface ServerCallContext {
  readonly output: RunOutput;
  /** The text of the same answer, before its calls. */
  readonly said: string | null;
  readonly tools: ServerTools;
  readonly secrets: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Asked before each call: why it is not made, if so. May throw to end the run there. */
  readonly mayStart: () => CallError | undefined;
}
interface CallError {
  readonly code: string;
  readonly message: string;
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
 * tool that fails answers an error to the model; only the signal ends the run. A call that was begun is brought to its end, or is closed as
 * failed when the signal fires. The tool is given its arguments as the model wrote them; everywhere else secrets in them are masked.
 */
export async function* runServerCalls(
  call: ModelCall,
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const calls = [...call.serverCalls.values()].map((serverCall) => ({ ...serverCall, arguments: argumentsOf(serverCall) }));
  const mask = masker(Object.values(context.secrets));
  const toolCalls = calls.map(({ callId, name, arguments: args }) => ({ id: callId, name, arguments: mask(args) }));
  yield [{ role: 'assistant', content: context.said, toolCalls }];
  for (const { callId, name, arguments: args } of calls) {
    const { output, tools } = context;
    const refusal = context.mayStart();
    const tool = tools.get(name);
    const base = { type: 'server_tool_call', id: output.itemId('serverToolCall'), callId, name, arguments: mask(args) } as const;
    const outputIndex = output.addItem({ ...base, status: 'in_progress' }, tool === undefined ? [] : [tool.hint]);
    output.emit({ type: 'response.server_tool_call.in_progress', outputIndex, itemId: base.id });
    yield [];
    const close = ({ text, error }: Answer) => {
      const status = error === null ? 'completed' : 'failed';
      output.emit({ type: `response.server_tool_call.${status}`, outputIndex, itemId: base.id });
      output.finishItem({ ...base, status });
      const result = { type: 'server_tool_call_output', id: output.itemId('serverToolOutput'), callId, error } as const;
      output.addItem({ ...result, status, output: '' });
      output.finishItem({ ...result, status, output: text });
    };
    let answered: Answer;
    if (refusal !== undefined) answered = { text: '', error: refusal };
    else {
      const news = new News();
      const tell: Tell = (told) => {
        output.emit({ outputIndex, itemId: base.id, ...masked(told, mask) });
        news.arrived();
      };
      const work = answer(context, { name, args, tell }, mask, signal).finally(() => news.end());
      // Whoever leaves in the middle does not wait for it: the signal ends it.
      work.catch(() => undefined);
      try {
        while (await news.next()) yield [];
        answered = await work;
      } catch (error) {
        close({ text: '', error: stoppedCall });
        throw error;
      }
    }
    close(answered);
    const { text, error } = answered;
    yield [{ role: 'tool', toolCallId: callId, content: error === null ? text : `Error: ${error.message}` }];
  }
}

function argumentsOf({ literal }: ServerCall): string {
  return literal === '' ? '{}' : decodeLiteral(literal);
}

async function answer(
  { tools, secrets, logger }: ServerCallContext,
  { name, args, tell }: { readonly name: string; readonly args: string; readonly tell: Tell },
  mask: Mask,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const text = await tools.get(name)?.run(args, secrets, signal, tell);
    if (text !== undefined) return { text: mask(storableText(text)), error: null };
    return { text: '', error: { code: 'unknown_tool', message: `There is no tool ${name}` } };
  } catch (error) {
    signal.throwIfAborted();
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
  private isThere = false;
  private isOver = false;
  private wake: (() => void) | undefined;

  arrived(): void {
    this.isThere = true;
    this.wake?.();
  }

  end(): void {
    this.isOver = true;
    this.wake?.();
  }

  /** Resolves when there is something since the last time; false once nothing more comes. */
  async next(): Promise<boolean> {
    if (!this.isThere && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.isThere = false;
    return !this.isOver;
  }
}
