import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Screen } from '../../../scripts/cli/output/screen.ts';
import { runCommand } from '../../../scripts/cli/run.ts';

export const scriptPath = fileURLToPath(new URL('../../../scripts/parley.ts', import.meta.url));

/** What a command prints, and the exit code of its process. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CommandOptions {
  readonly isTerminal?: boolean;
  readonly signal?: AbortSignal;
  /** Called with everything that was printed so far. */
  readonly onOutput?: (out: string) => void;
}

/** Words of a command line; a part in double quotes is one word. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Runs `parley <line>` in this process, with this environment and nothing else. */
export async function parley(
  line: string,
  env: Readonly<Record<string, string>> = {},
  { isTerminal = false, signal = new AbortController().signal, onOutput = () => undefined }: CommandOptions = {},
): Promise<CommandResult> {
  let out = '';
  let err = '';
  const screen: Screen = {
    isTerminal,
    out(text) {
      out += text;
      onOutput(out);
    },
    err(text) {
      err += text;
    },
    progress(text) {
      if (isTerminal) err += `[${text}]`;
    },
  };
  const code = await runCommand(wordsOf(line), env, screen, signal);
  return { code, out, err };
}

/** The same in a process of its own. */
export function parleyProcess(words: string, env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH ?? '', ...env }, cwd: fileURLToPath(new URL('../../..', import.meta.url)) };
    const child = execFile(process.execPath, [scriptPath, ...wordsOf(words)], options, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}
