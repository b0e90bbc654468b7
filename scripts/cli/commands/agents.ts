import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { isObject, type JsonObject, membersOf, readElements } from '../../../src/lib/json/json.ts';
import { findAgent, listAgents } from '../agents.ts';
import { failed, misused } from '../failure.ts';
import { harmless } from '../output/screen.ts';
import { lines, table } from '../output/table.ts';
import type { CommandContext, CommandOption, WrittenCommand } from './command.ts';

/** What `create` and `edit` take; the other members are changed in an editor, or by the REST interface. */
const settable: readonly CommandOption[] = [
  { name: 'name', value: 'text', meaning: 'What it is called.' },
  { name: 'instructions', value: 'text', meaning: 'What it is told to be and to do; @file reads a file.' },
  { name: 'description', value: 'text', meaning: 'What it is for.' },
  { name: 'introduction', value: 'text', meaning: 'How it greets.' },
  { name: 'modelId', value: 'id', meaning: 'The model that answers, like parley/offline.' },
  { name: 'visibility', value: 'PRIVATE|GROUP|ORGANIZATION|ANYONE_WITH_LINK', meaning: 'Who may use it.' },
];
const which = '<name or id>';
const editedMembers = [
  ...['name', 'description', 'introduction', 'instructions', 'seed', 'modelId', 'visibility', 'options', 'groups'],
  ...['generateCitations', 'chatLogsVisible', 'intermediateStepsVisible'],
];

const list: WrittenCommand = {
  name: 'agents list',
  words: [0, 0],
  summary: 'Lists the agents that you see, newest first',
  options: [
    { name: 'search', value: 'text', meaning: 'Only those whose name or description holds this text.' },
    { name: 'scope', value: 'ALL|OWNED|SHARED|…', meaning: 'Only those of this kind.' },
  ],
  example: 'agents list --search manual',
  async run({ service, screen, options, switches }) {
    const agents = await listAgents(service, Object.fromEntries(options));
    const rows = agents.map(({ name, id, visibility, modelId, userName, updatedAt }) => ({
      name,
      id,
      visibility,
      modelId,
      userName,
      updatedAt,
    }));
    if (switches.has('json')) screen.out(`${JSON.stringify({ data: agents }, null, 2)}\n`);
    else screen.out(`${rows.length === 0 ? 'No agents.' : table(rows)}\n`);
    return true;
  },
};

const get: WrittenCommand = {
  name: 'agents get',
  takes: which,
  words: [1, 1],
  summary: 'Shows an agent',
  options: [],
  example: 'agents get "Ask the manual"',
  async run({ service, words, ...context }) {
    const { id } = await findAgent(service, words[0]);
    return show(context, await service.send('GET', `/api/v1/ais/${id}`));
  },
};

const create: WrittenCommand = {
  name: 'agents create',
  words: [0, 0],
  summary: 'Makes an agent',
  details: 'Needs --name.',
  options: settable,
  example: 'agents create --name "Workshop help" --instructions "Answer briefly, from the knowledge you are given."',
  async run({ service, options, ...context }) {
    const members = readMembers(options);
    if (members.name === undefined) throw misused('agents create needs --name.');
    const body = { src: '', description: '', instructions: 'Answer from the knowledge you are given.', ...members };
    return show(context, await service.send('POST', '/api/v1/ais', body));
  },
};

const edit: WrittenCommand = {
  name: 'agents edit',
  takes: which,
  words: [1, 1],
  summary: 'Changes an agent',
  details: 'Changes the given members. Without any, on a terminal, it opens the agent as JSON in $EDITOR.',
  options: settable,
  example: 'agents edit "Workshop help" --visibility ORGANIZATION',
  async run({ service, words, options, ...context }) {
    const { id } = await findAgent(service, words[0]);
    const given = readMembers(options);
    const changes =
      Object.keys(given).length > 0 ? given : edited(context, membersOf(await service.send('GET', `/api/v1/ais/${id}`)));
    if (changes === undefined) {
      context.screen.err('Nothing was changed.\n');
      return true;
    }
    return show(context, await service.send('PATCH', `/api/v1/ais/${id}`, changes));
  },
};

const remove: WrittenCommand = {
  name: 'agents delete',
  takes: which,
  words: [1, 1],
  summary: 'Deletes an agent; its sources stay',
  options: [],
  example: 'agents delete "Workshop help"',
  async run({ service, words, screen, switches }) {
    const { id, name } = await findAgent(service, words[0]);
    const reply = await service.send('DELETE', `/api/v1/ais/${id}`);
    screen.out(switches.has('json') ? `${JSON.stringify(reply, null, 2)}\n` : `Deleted "${harmless(name)}".\n`);
    return true;
  },
};

const exportAgent: WrittenCommand = {
  name: 'agents export',
  takes: which,
  words: [1, 1],
  summary: 'Writes an agent as a bundle, for another Parley. Secrets are left out',
  options: [{ name: 'file', value: 'path', meaning: 'Where to write it; default: standard output.' }],
  example: 'agents export "Workshop help" --file workshop.json',
  async run({ service, words, options, screen }) {
    const { id, name } = await findAgent(service, words[0]);
    const text = `${JSON.stringify(await service.send('GET', `/api/v1/ais/${id}/export`), null, 2)}\n`;
    const file = options.get('file');
    if (file === undefined) screen.out(text);
    else {
      writeOrFail(file, text);
      screen.err(`Wrote "${harmless(name)}" to ${file}.\n`);
    }
    return true;
  },
};

const importAgent: WrittenCommand = {
  name: 'agents import',
  takes: '<file|->',
  words: [1, 1],
  summary: 'Makes an agent from a bundle; - reads standard input',
  options: [
    { name: 'name', value: 'text', meaning: 'Another name than that in the bundle.' },
    { name: 'secrets', value: 'JSON', meaning: 'Values for the secrets that the bundle lists; @file reads a file.' },
    { name: 'dryRun', meaning: 'Only reports what would happen.' },
  ],
  example: 'agents import workshop.json --name "Workshop help 2"',
  async run({ service, words, options, switches, screen }) {
    const [file = '-'] = words;
    const bundle = parseOrFail(file === '-' ? await readAll(process.stdin) : readOrFail(file), file);
    const secrets = options.get('secrets');
    const body = {
      bundle,
      ...(options.has('name') ? { name: options.get('name') } : {}),
      ...(secrets === undefined ? {} : { secrets: parseOrFail(contentOf(secrets), '--secrets') }),
    };
    const reply = membersOf(
      await service.send('POST', `/api/v1/ais/import${switches.has('dryRun') ? '?dryRun=true' : ''}`, body),
    );
    if (switches.has('json')) screen.out(`${JSON.stringify(reply, null, 2)}\n`);
    else {
      screen.out(switches.has('dryRun') ? 'The bundle can be imported.\n' : `Made ${String(reply.aiId)}.\n`);
      for (const warning of readElements(reply.warnings)) screen.err(`Warning: ${harmless(String(warning))}\n`);
    }
    return true;
  },
};

export const agentCommands: readonly WrittenCommand[] = [list, get, create, edit, remove, exportAgent, importAgent];

function show({ screen, switches }: Pick<CommandContext, 'screen' | 'switches'>, agent: unknown): boolean {
  screen.out(`${switches.has('json') ? JSON.stringify(agent, null, 2) : lines(membersOf(agent))}\n`);
  return true;
}

function readMembers(options: CommandContext['options']): Record<string, unknown> {
  return Object.fromEntries(
    [...options].map(([name, text]) => [name, name === 'instructions' ? contentOf(text) : text === 'null' ? null : text]),
  );
}

/** `@file` is the content of the file. */
function contentOf(text: string): string {
  return text.startsWith('@') ? readOrFail(text.slice(1)) : text;
}

/** What a person changed in an editor; undefined for nothing. */
function edited({ screen }: Pick<CommandContext, 'screen'>, agent: JsonObject): JsonObject | undefined {
  const editor = process.env.VISUAL ?? process.env.EDITOR;
  if (!screen.isTerminal) throw misused('agents edit needs what to change, like --name "Workshop help".');
  if (editor === undefined) throw misused('Set EDITOR to your editor, or name what to change, like --name "Workshop help".');
  const before = Object.fromEntries(editedMembers.map((name) => [name, agent[name] ?? null]));
  const folder = mkdtempSync(join(tmpdir(), 'parley-edit-'));
  try {
    const file = join(folder, 'agent.json');
    writeFileSync(file, `${JSON.stringify(before, null, 2)}\n`);
    const [program = '', ...args] = editor.split(' ');
    const { status } = spawnSync(program, [...args, file], { stdio: 'inherit' });
    if (status !== 0) throw failed(`${program} ended with ${status ?? 'an error'}; nothing was changed.`);
    const after = parseOrFail(readFileSync(file, 'utf8'), 'The edited text');
    if (!isObject(after)) throw failed('The edited text is not a JSON object; nothing was changed.');
    const changes = Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]));
    return changes.length === 0 ? undefined : Object.fromEntries(changes);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readOrFail(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw failed(`"${file}" could not be read: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function writeOrFail(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw failed(`"${file}" could not be written: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function parseOrFail(text: string, from: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw failed(`${from} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
