import type { Logger } from 'pino';
import { DomainError } from '../../../entities/errors.ts';
import { storableText } from '../../../lib/text.ts';
import type { RunMask } from '../../tools/masking.ts';
import type { CallPass, ServerTool, Tell, ToolResult } from '../../tools/server-tool.ts';
import { RunStop } from '../control/stop.ts';
import type { CallEnd } from './open-call.ts';

export interface NamedCall {
  readonly name: string;
  /** Undefined: there is no tool of that name. */
  readonly tool: Pick<ServerTool, 'run'> | undefined;
  /** JSON text, unchecked. */
  readonly args: string;
}

export interface CallContext {
  readonly secrets: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Of the secrets; undefined for none. */
  readonly mask: RunMask | undefined;
  readonly tell: Tell;
  readonly pass: CallPass;
}

/**
 * Makes one call of a tool that runs in this service: the one place that does. A tool that fails is an error of the call.
 *
 * @throws RunStop; the reason of the signal.
 */
export async function callTool(
  { name, tool, args }: NamedCall,
  { secrets, logger, mask: ofSecrets, tell, pass }: CallContext,
  signal: AbortSignal,
): Promise<CallEnd> {
  const mask = (text: string) => ofSecrets?.text(text) ?? text;
  if (tool === undefined) return { output: '', error: { code: 'unknown_tool', message: `There is no tool ${name}` } };
  try {
    const result = await tool.run(args, secrets, signal, tell, pass);
    const { text, files = [], form, isConfidential }: ToolResult = typeof result === 'string' ? { text: result } : result;
    return {
      output: mask(storableText(text)),
      error: null,
      ...(files.length === 0 ? {} : { files }),
      ...(form === undefined ? {} : { form }),
      ...(isConfidential === true ? { isConfidential } : {}),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RunStop) throw error;
    if (error instanceof DomainError) {
      return { output: '', error: { code: error.code.toLowerCase(), message: mask(error.message) } };
    }
    logger.error({ err: ofSecrets?.error(error) ?? error, tool: name }, 'a tool failed');
    return { output: '', error: { code: 'tool_failed', message: 'The tool failed' } };
  }
}
