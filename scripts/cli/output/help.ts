import { isObject } from '../../../src/lib/json/json.ts';
import { isPackage } from '../../../src/lib/product.ts';
import type { WrittenCommand } from '../commands/command.ts';
import { verbs, writtenCommands } from '../commands/written.ts';
import { type Command, exampleOf, typeName } from '../commands.ts';
import { lines, table } from './table.ts';
import { rowViews } from './views.ts';

const optionMax = 40;

/** The reply of an operation for people: a table for a list, lines for one thing. */
export function shown(body: unknown, operationId: string): string {
  const list = Array.isArray(body) ? body : isObject(body) && Array.isArray(body.data) ? body.data : undefined;
  if (list === undefined) return isObject(body) ? lines(body) : String(body);
  const rows = list.filter(isObject).map(rowViews[operationId] ?? ((row) => row));
  const next = isObject(body) && typeof body.nextCursor === 'string' ? `\nMore: --cursor ${body.nextCursor}` : '';
  return `${rows.length === 0 ? 'Nothing.' : table(rows)}${next}`;
}

export function help(program: string): string {
  const left = writtenCommands.map(({ name, takes }) => `${name}${takes === undefined ? '' : ` ${takes}`}`);
  const width = Math.max(...left.map((text) => text.length));
  const administrative = [...verbs].flatMap(([noun, names]) => {
    const plain = names.filter((verb) => !writtenCommands.some(({ name }) => name === (verb === '' ? noun : `${noun} ${verb}`)));
    return plain.length === 0 ? [] : [`  ${noun.padEnd(width)}  ${plain.join(', ')}`];
  });
  return `The command line of Parley.

  ${program} <command> [--option value …]

${writtenCommands.map(({ summary }, index) => `  ${(left[index] ?? '').padEnd(width)}  ${summary}.`).join('\n')}

Operations of the REST interface, with its members as options:

${administrative.join('\n')}

${isPackage ? `  ${'start'.padEnd(width)}  Starts the service, with its data in this folder. Settings are variables of the environment.\n` : ''}  ${'doctor'.padEnd(width)}  Checks settings, database, disk and providers, and says what to do.
  ${'move --to <url>'.padEnd(width)}  Copies an embedded database to a PostgreSQL server, and its files to a bucket.
  ${'upgrade --check'.padEnd(width)}  Says what the next start will do to the database; --undo goes back.
  ${'secrets rotate'.padEnd(width)}  Puts all stored secrets under the first key of PARLEY_MASTER_KEY.
  ${'search-index rebuild'.padEnd(width)}  Builds the search index of SEARCH_INDEX_URL anew from the database.
  ${'completion bash|zsh|fish'.padEnd(width)}  Prints a script that completes commands in a shell.
  ${'<command> --help'.padEnd(width)}  What a command takes, with an example.

Options are written --orgId or --org-id; several values with commas; null clears.

  --json     the reply as it came, for programs
  --url      where the service listens; else PARLEY_URL, else http://127.0.0.1:4000
  --key      the API key; else PARLEY_API_KEY
  --local    without a running service and without a key: opens the data folder (DATA_DIR) or the database
             (DATABASE_URL) itself, and acts as the first administrator with every right. For when all keys are lost:

               ${program} keys create --local --name Recovery --scopes all --level INSTANCE

Ends with 0 when all was done, 1 when something failed or was refused, 2 when the command was wrong.`;
}

export const secretsHelp = `parley secrets rotate

Puts all stored secrets under the newest master key, and says whether an older key is still needed. It opens the data folder
(DATA_DIR) or the database (DATABASE_URL) itself. To change the master key:

  1. Start every instance with PARLEY_MASTER_KEY=<new>,<old>. Each puts the secrets under both keys at its start.
  2. Run this command, or see that the log of the start says that older keys are not needed.
  3. Start every instance with PARLEY_MASTER_KEY=<new>. From then on the old key opens nothing.

Example:
  PARLEY_MASTER_KEY="<new>,<old>" parley secrets rotate`;

export function helpOfWritten({ name, takes, summary, details, options, example }: WrittenCommand, program: string): string {
  const named = options.map(({ name: option, value, meaning }) => ({
    left: `--${option}${value === undefined ? '' : ` <${value}>`}`,
    right: meaning,
  }));
  return page(
    `${program} ${name}${takes === undefined ? '' : ` ${takes}`}`,
    `${summary}.${details === undefined ? '' : ` ${details}`}`,
    named,
    `${program} ${example}`,
  );
}

export function helpOf(command: Command, program: string): string {
  const { noun, verb, route, members } = command;
  const { summary, description } = route.row;
  const named = members.map((member) => ({
    left: `--${member.name} <${typeName(member.type)}>`,
    right: `${member.isRequired ? 'Required. ' : ''}${member.description}`,
  }));
  const told = `${summary}.${description === undefined ? '' : ` ${description}`}`;
  return page(`${program} ${noun} ${verb}`, told, named, `${program} ${exampleOf(command)}`);
}

function page(usage: string, told: string, named: readonly { left: string; right: string }[], example: string): string {
  const width = Math.min(optionMax, Math.max(0, ...named.map(({ left }) => left.length)));
  const options = named.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`);
  return [usage, '', told, ...(options.length === 0 ? [] : ['', ...options]), '', 'Example:', `  ${example}`].join('\n');
}
