import type { Logger } from 'pino';
import type { OutputFile } from '../../../entities/conversations/runs/tool.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { storableText } from '../../../lib/text/text.ts';
import type { NewRunFile, RunFiles } from '../../tools/run-files.ts';
import type { RunMask } from '../../tools/secrets/masking.ts';
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
  /** Where files go that the tool gives without storing them. */
  readonly files: Pick<RunFiles, 'save'>;
  readonly pass: CallPass;
}

/**
 * Makes one call of a tool that runs in this service: the one place that does. A tool that fails is an error of the call.
 *
 * @throws RunStop; the reason of the signal.
 */
export async function callTool(
  { name, tool, args }: NamedCall,
  { secrets, logger, mask: ofSecrets, tell, files: runFiles, pass }: CallContext,
  signal: AbortSignal,
): Promise<CallEnd> {
  const mask = (text: string) => ofSecrets?.text(text) ?? text;
  if (tool === undefined) return { output: '', error: { code: 'unknown_tool', message: `There is no tool ${name}` } };
  try {
    const result = await tool.run(args, secrets, signal, tell, pass);
    const { text, form, isConfidential, isMirrored, ...resultFiles }: ToolResult =
      typeof result === 'string' ? { text: result } : result;
    const { notes, saved: savedFiles } = await saveFiles(resultFiles.newFiles ?? [], pass.key, runFiles, signal);
    const files = [...(resultFiles.files ?? []), ...savedFiles];
    return {
      output: mask(storableText([text, ...notes].join('\n'))),
      error: null,
      ...(files.length === 0 ? {} : { files }),
      ...(form === undefined ? {} : { form }),
      ...(isConfidential === true ? { isConfidential } : {}),
      ...(isMirrored === true ? { isMirrored } : {}),
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

/** Stores files of a call. One that cannot be stored is a note for the model, not an error: the rest of the result stands. */
async function saveFiles(files: readonly NewRunFile[], key: string, runFiles: Pick<RunFiles, 'save'>, signal: AbortSignal) {
  const savedFiles: OutputFile[] = [];
  const notes: string[] = [];
  for (const file of files) {
    try {
      const one = await runFiles.save(file, key, signal);
      savedFiles.push(one);
      notes.push(`[saved as the file ${one.filename}, ${one.mimeType}, ${one.sizeBytes} bytes; the user sees it]`);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      notes.push(`[not saved: ${error.message}]`);
    }
  }
  return { saved: savedFiles, notes };
}
