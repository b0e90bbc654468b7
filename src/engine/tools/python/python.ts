import { DomainError } from '../../../entities/errors.ts';
import type { FairQueue } from '../../../lib/fair-queue.ts';
import { nobody, type ShareOwner } from '../../../lib/fair-share.ts';
import type { ServerTool } from '../server-tool.ts';
import { findBox } from './box.ts';
import { type Box, type BoxLimits, runInBox } from './run-in-box.ts';

const codeLengthMax = 100_000;

export interface PythonLimits extends BoxLimits {
  /** Programs at one time; the others wait in turn, by tenant and organization. */
  readonly programs: FairQueue;
}

/**
 * Runs Python that a model wrote: CPython as WebAssembly, in a boxed process of its own for each program, with bounded time, memory and
 * output. Where there is no box the tool answers an error that says so, and nothing is run.
 *
 * @param find  finds the box of this machine; asked until there is one.
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
    // Nothing leaves its box: to run a program again changes nothing outside.
    ifLost: 'repeat',
    async run(args, _secrets, signal) {
      const code = codeOf(args);
      found ??= find();
      const box = await found;
      // A machine that was too busy to try its boxes is asked again.
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

/** @throws DomainError for arguments that are no program. */
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
