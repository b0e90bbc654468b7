import { type Command, typeName } from './commands.ts';

const columnsMax = 40;

/** A reply as text: a table for a list, lines for one thing. */
export function shown(body: unknown): string {
  const list = Array.isArray(body) ? body : isRecord(body) && Array.isArray(body.data) ? body.data : undefined;
  if (list === undefined) return isRecord(body) ? lines(body) : String(body);
  const rows = list.filter(isRecord);
  const next = isRecord(body) && typeof body.nextCursor === 'string' ? `\nMore: --cursor ${body.nextCursor}` : '';
  return `${rows.length === 0 ? 'Nothing.' : table(rows)}${next}`;
}

export function help(commands: readonly Command[]): string {
  const nouns = [...new Set(commands.map(({ noun }) => noun))];
  const width = Math.max(...nouns.map((noun) => noun.length));
  const verbsOf = (noun: string) => commands.filter((command) => command.noun === noun).map(({ verb }) => verb);
  return `Administers Parley.

  npm run parley -- <noun> <verb> [--member value …]

${nouns.map((noun) => `  ${noun.padEnd(width)}  ${verbsOf(noun).join(', ')}`).join('\n')}

  npm run parley -- <noun> <verb> --help    what a command takes
  npm run parley -- secrets rotate          puts all stored secrets under the first key of PARLEY_MASTER_KEY

Members are those of the REST interface: --orgId or --org-id; several values with commas; null clears.

  --json     the reply as it came
  --url      where the service listens; else PARLEY_URL, else http://127.0.0.1:4000
  --local    without a running service and without a key: opens the data folder (DATA_DIR) or the database
             (DATABASE_URL) itself, and acts as the first administrator with every right. For when all keys are lost:

               npm run parley -- keys create --local --name Recovery --scopes all --level INSTANCE

The key comes from PARLEY_KEY. With --json, begin with "npm run -s" to keep npm's own lines out.

Ends with 0 when it was done, 1 when the service refused, 2 when the command was wrong, 3 when nothing could be reached.`;
}

export const secretsHelp = `npm run parley -- secrets rotate

Puts all stored secrets under the first key of PARLEY_MASTER_KEY, and says whether an older key is still needed. It opens the data folder
(DATA_DIR) or the database (DATABASE_URL) itself. To change the master key:

  1. Start every instance with PARLEY_MASTER_KEY=<new>,<old>. Each puts the secrets under both keys at its start.
  2. Run this command, or see that the log of the start says that older keys are not needed.
  3. Start every instance with PARLEY_MASTER_KEY=<new>. From then on the old key opens nothing.`;

export function helpOf({ noun, verb, route, members }: Command): string {
  const { summary, description } = route.row;
  const named = members.map((member) => ({
    left: `--${member.name} <${typeName(member.type)}>`,
    right: `${member.isRequired ? 'Required. ' : ''}${member.description}`,
  }));
  const width = Math.min(columnsMax, Math.max(0, ...named.map(({ left }) => left.length)));
  return [
    `npm run parley -- ${noun} ${verb}`,
    '',
    `${summary}.${description === undefined ? '' : ` ${description}`}`,
    ...(named.length === 0 ? [] : ['', ...named.map(({ left, right }) => `  ${left.padEnd(width)}  ${right}`)]),
  ].join('\n');
}

function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const widths = names.map((name, index) => Math.max(name.length, ...cells.map((row) => row[index]?.length ?? 0)));
  return [names, ...cells]
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function lines(record: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(record);
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${lineOf(record[name])}`).join('\n');
}

function lineOf(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every(isRecord)) return `\n${table(value).replaceAll(/^/gm, '  ')}`;
  return isRecord(value) ? `\n${lines(value).replaceAll(/^/gm, '  ')}` : cell(value);
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(',');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(/\s+/g, ' ');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
