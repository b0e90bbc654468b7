import { DomainError } from '../../../entities/errors.ts';
import type { FairQueue } from '../../../lib/fair-queue.ts';
import { nobody, type ShareOwner } from '../../../lib/fair-share.ts';
import type { ServerTool } from '../server-tool.ts';
import type { ToolKind } from '../tool-kind.ts';
import { findBox } from './box.ts';
import { type Box, type BoxLimits, runInBox } from './run-in-box.ts';

const codeLengthMax = 100_000;

export interface PythonLimits extends BoxLimits {
  /** Concurrent programs; others wait, in turns of tenants and organizations. */
  readonly programs: FairQueue;
}

/** `python`: programs of the model, boxed. */
export function createPythonKind(limits: PythonLimits, find?: () => Promise<Box | undefined>): ToolKind {
  const tool = createPythonTool(limits, find);
  return {
    type: 'python',
    isReadOnly: false,
    description: 'Runs Python programs in a box without network.',
    functionNames: () => ['python'],
    open: () => ({ functions: [tool] }),
  };
}

/**
 * Runs Python code of a model: CPython as WebAssembly, one boxed process for each program, with limits of time, memory and output.
 * Without a box the tool answers an error and runs nothing.
 *
 * @param find  finds this machine's box; called until it finds one.
 *
 * Cost: 0.7 s and about 200 MB for one program.
 */
export function createPythonTool(
  { programs, ...limits }: PythonLimits,
  find: () => Promise<Box | undefined> = findBox,
): ServerTool {
  let found: Promise<Box | undefined> | undefined;
  const toolOf = (owner: ShareOwner): ServerTool => ({
    definition: {
      name: 'python',
      description: 'Runs a Python program and answers what it prints. There is no network, and nothing is kept between calls.',
      parameters: {
        type: 'object',
        properties: { code: { type: 'string', description: 'The program. Print what you want to know.' } },
        required: ['code'],
        additionalProperties: false,
      },
    },
    hint: 'Running Python',
    // A program has no effect outside its box, so it may run again.
    ifLost: 'repeat',
    async run(args, _secrets, signal) {
      const code = codeOf(args);
      found ??= find();
      const box = await found;
      // The machine may have been too busy: try again.
      if (box === undefined) found = undefined;
      if (box !== undefined) {
        await programs.take(owner, signal);
        try {
          return await runInBox(box, code, limits, signal);
        } finally {
          programs.give(owner);
        }
      }
      const reason = 'there is no box to run it in (bubblewrap, or unshare with user namespaces)';
      throw new DomainError('OVERLOADED', `Python is not available here: ${reason}`);
    },
    countedFor: toolOf,
  });
  return toolOf(nobody);
}

/** @throws DomainError for arguments without code. */
function codeOf(args: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(args);
  } catch {
    throw new DomainError('INVALID_JSON', 'The arguments are no JSON');
  }
  const code = typeof parsed === 'object' && parsed !== null && 'code' in parsed ? parsed.code : undefined;
  if (typeof code !== 'string') throw new DomainError('INVALID_VALUE', 'The arguments must hold code, a string');
  if (code.length > codeLengthMax) throw new DomainError('INVALID_VALUE', `code must have at most ${codeLengthMax} characters`);
  return code;
}
