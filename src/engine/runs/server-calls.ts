import type { Logger } from 'pino';
import { DomainError } from '../../entities/errors.ts';
import { storableText } from '../../lib/text.ts';
import type { ModelMessage } from '../models/port.ts';
import { masker } from '../tools/masking.ts';
import type { ServerTools } from '../tools/server-tool.ts';
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

/**
 * Answers the calls of tools that run here, one after the other, and yields the messages that tell the model, whenever events may leave. A
 * tool that fails answers an error to the model; only the signal ends the run. A call that was begun is brought to its end.
 */
export async function* runServerCalls(
  call: ModelCall,
  context: ServerCallContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelMessage[]> {
  const calls = [...call.serverCalls.values()].map((serverCall) => ({ ...serverCall, arguments: argumentsOf(serverCall) }));
  const toolCalls = calls.map(({ callId, name, arguments: args }) => ({ id: callId, name, arguments: args }));
  yield [{ role: 'assistant', content: context.said, toolCalls }];
  const mask = masker(Object.values(context.secrets));
  for (const { callId, name, arguments: args } of calls) {
    const { output, tools } = context;
    const refusal = context.mayStart();
    const tool = tools.get(name);
    const base = { type: 'server_tool_call', id: output.itemId('serverToolCall'), callId, name, arguments: args } as const;
    const outputIndex = output.addItem({ ...base, status: 'in_progress' }, tool === undefined ? [] : [tool.hint]);
    output.emit({ type: 'response.server_tool_call.in_progress', outputIndex, itemId: base.id });
    yield [];
    const { text, error } =
      refusal === undefined ? await answer(context, name, args, mask, signal) : { text: '', error: refusal };
    const status = error === null ? 'completed' : 'failed';
    output.emit({ type: `response.server_tool_call.${status}`, outputIndex, itemId: base.id });
    output.finishItem({ ...base, status });
    const result = { type: 'server_tool_call_output', id: output.itemId('serverToolOutput'), callId, error } as const;
    output.addItem({ ...result, status, output: '' });
    output.finishItem({ ...result, status, output: text });
    yield [{ role: 'tool', toolCallId: callId, content: error === null ? text : `Error: ${error.message}` }];
  }
}

function argumentsOf({ literal }: ServerCall): string {
  return literal === '' ? '{}' : decodeLiteral(literal);
}

async function answer(
  { tools, secrets, logger }: ServerCallContext,
  name: string,
  args: string,
  mask: (text: string) => string,
  signal: AbortSignal,
): Promise<{ text: string; error: CallError | null }> {
  try {
    const text = await tools.get(name)?.run(args, secrets, signal);
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
