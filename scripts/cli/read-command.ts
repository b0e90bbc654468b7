import { type Request, requestOf, type Typed } from './arguments.ts';
import { commandNameOf } from './commands/written.ts';
import type { Command } from './commands.ts';
import { misused } from './failure.ts';

/** Options that every command takes; they say where it is sent. */
export const targetOptions: ReadonlySet<string> = new Set(['url', 'key']);

/** The command of an operation that was typed. @throws Failure saying what is wrong with it. */
export function commandOf(commands: readonly Command[], { words }: Typed): Command {
  const { noun, verb } = commandNameOf(words[0] ?? '', words[1]);
  const command = commands.find((one) => one.noun === noun && one.verb === verb);
  if (command === undefined) throw new Error(`${noun} ${verb} is no operation`);
  return command;
}

/** The typed command as a request to send. @throws Failure saying what is wrong with it. */
export function readCommand(commands: readonly Command[], typed: Typed): Request {
  const command = commandOf(commands, typed);
  const surplus = typed.words.slice(2);
  if (surplus.length > 0) throw misused(`Options are written as --name value; "${surplus.join(' ')}" belongs to none.`);
  return requestOf(command, new Map([...typed.options].filter(([name]) => !targetOptions.has(name))));
}
