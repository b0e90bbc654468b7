import { isPackage } from '../../../src/lib/product.ts';
import { misused } from '../failure.ts';
import { suggestion } from '../nearest.ts';
import { agentCommands } from './agents.ts';
import { ask } from './ask.ts';
import { chatCommands } from './chats.ts';
import type { WrittenCommand } from './command.ts';
import { evaluate } from './evaluate.ts';
import { operations } from './operations.ts';
import { signInLink } from './sign-in-link.ts';
import { showPermissions } from './source-permissions.ts';
import { addSources, listSources } from './sources.ts';
import { usage } from './usage.ts';

/** All commands that are more than one call of the REST interface. */
export const writtenCommands: readonly WrittenCommand[] = [
  ask,
  evaluate,
  addSources,
  listSources,
  showPermissions,
  ...agentCommands,
  ...chatCommands,
  usage,
  signInLink,
];

/** Those that work without a service. */
export const ownNouns = [
  ...(isPackage ? ['start'] : []),
  'help',
  'completion',
  'doctor',
  'move',
  'search-index',
  'secrets',
  'upgrade',
];

/** What a noun can do, in the order of help; '' stands for the noun alone. */
export const verbs: ReadonlyMap<string, readonly string[]> = new Map(
  [...new Set([...writtenCommands.map(({ name }) => name.split(' ')[0] ?? ''), ...Object.keys(operations)])].map((noun) => [
    noun,
    [
      ...new Set([
        ...writtenCommands.flatMap(({ name }) =>
          name === noun ? [''] : name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : [],
        ),
        ...Object.keys(operations[noun] ?? {}),
      ]),
    ],
  ]),
);

/** The noun and verb that were typed: a noun alone lists, where it can. @throws Failure that says what was probably meant. */
export function commandNameOf(noun: string, typed: string | undefined): { readonly noun: string; readonly verb: string } {
  const known = verbs.get(noun);
  if (known === undefined) {
    const nouns = [...verbs.keys(), ...ownNouns];
    throw misused(`There is no command "${noun}".${suggestion(noun, nouns)} Commands are ${nouns.join(', ')}.`);
  }
  if (known.includes('') && (typed === undefined || !known.includes(typed))) return { noun, verb: '' };
  if (typed === undefined && known.includes('list')) return { noun, verb: 'list' };
  const named = known.filter((verb) => verb !== '').join(', ');
  if (typed === undefined) throw misused(`${noun} needs a verb: ${named}.`);
  if (!known.includes(typed)) throw misused(`${noun} cannot "${typed}".${suggestion(typed, known)} It can ${named}.`);
  return { noun, verb: typed };
}

export function writtenCommandOf({ noun, verb }: { readonly noun: string; readonly verb: string }): WrittenCommand | undefined {
  return writtenCommands.find(({ name }) => name === (verb === '' ? noun : `${noun} ${verb}`));
}
