import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type CommandResult, runCommand } from '../../../scripts/cli/run.ts';

const script = fileURLToPath(new URL('../../../scripts/parley.ts', import.meta.url));
const argumentsOf = (words: string) => words.split(' ').filter((word) => word !== '');

/** Runs `parley <words>` with this environment and nothing else. */
export const parley = (words: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> =>
  runCommand(argumentsOf(words), env);

/** The same in a process of its own. */
export function parleyProcess(words: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env }, cwd: fileURLToPath(new URL('../../..', import.meta.url)) };
    const child = execFile(process.execPath, [script, ...argumentsOf(words)], options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}
