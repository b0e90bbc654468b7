import { type Request, requestOf, type Typed } from './arguments.ts';
import { type Command, commandNamed } from './commands.ts';
import { misused } from './failure.ts';

/** The typed command as a request, and its target if one is given. @throws Failure that names the mistake. */
export function readCommand(
  commands: readonly Command[],
  { words, options }: Typed,
): { readonly request: Request; readonly url: string | undefined } {
  const [noun = '', verb, ...surplus] = words;
  const command = commandNamed(commands, noun, verb);
  if (surplus.length > 0) throw misused(`Members are written as --member value; "${surplus.join(' ')}" belongs to none.`);
  const members = new Map(options);
  members.delete('url');
  return { request: requestOf(command, members), url: options.get('url')?.at(-1) };
}
