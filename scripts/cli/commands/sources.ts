import { openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { findAgent } from '../agents.ts';
import { Failure, failed, misused } from '../failure.ts';
import { bar, harmless, type Screen } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { Service } from '../service.ts';
import { readSourceChoice, type SourceChoice, sourceOptions } from '../source-options.ts';
import { failureOf, isAtRest, percentOf, type Source, sourcesOf, whenIndexed } from '../sources.ts';
import { agentOption, type CommandContext, type WrittenCommand } from './command.ts';

const uploadsAtOnce = 3;
const filesMax = 5_000;
/** Folders that hold no documents of a person. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

export const addSources: WrittenCommand = {
  name: 'sources add',
  takes: '<folder|file|url>…',
  words: [1, Number.POSITIVE_INFINITY],
  summary: 'Gives an agent knowledge: the files of a folder, single files, web sites, or files by their address',
  details:
    'Waits until all of it is indexed, and says of each failure why. Hidden files and node_modules are left out. Ends with 1 when something failed. Ctrl-C stops waiting; what was sent goes on being indexed.',
  options: [agentOption, ...sourceOptions],
  example: 'sources add ./docs https://example.com/manual.pdf --agent "Ask the manual"',
  async run(context) {
    const { service, screen, words, options, switches, signal } = context;
    const urls = words.filter((word) => /^https?:\/\//i.test(word));
    for (const url of urls)
      if (!URL.canParse(url)) throw misused(`"${url}" is not an address. Addresses look like https://example.com/docs.`);
    const places = await Promise.all(words.filter((word) => !urls.includes(word)).map(placeOf));
    const choice = readSourceChoice(options, {
      hasAddresses: urls.length > 0,
      hasFolders: places.some(({ isFolder }) => isFolder),
    });
    const files = (await Promise.all(places.map((place) => filesOf(place, choice)))).flat();
    const agent = await findAgent(service, options.get('agent'));
    const sent = await send(context, agent.id, files, urls.map(choice.webUrl));
    const ids = new Set(sent.flatMap((one) => ('source' in one ? [one.source.id] : [])));
    const show = progressOf(screen, 'Indexing', ids.size);
    const indexed =
      ids.size === 0
        ? []
        : await whenIndexed(
            service,
            agent.id,
            ({ id }) => ids.has(id),
            (sources) => show(sources.filter(isAtRest).length, percentOf(sources)),
            { timeoutMs: Number.POSITIVE_INFINITY, signal },
          );
    screen.progress('');
    const byId = new Map(
      await Promise.all(indexed.map(async (source) => [source.id, await explained(service, source)] as const)),
    );
    const outcomes = sent.map((one) => outcomeOf(one, byId));
    const failures = outcomes.filter(({ reason }) => reason !== null);
    if (switches.has('json')) screen.out(`${JSON.stringify({ agentId: agent.id, sources: outcomes }, null, 2)}\n`);
    else {
      screen.out(`${outcomes.length - failures.length} of ${outcomes.length} indexed for "${harmless(agent.name)}".\n`);
      for (const { name, note } of outcomes) if (note !== null) screen.err(`${harmless(name)}: ${harmless(note)}\n`);
      for (const { name, reason } of failures) screen.err(`${harmless(name)}: ${harmless(reason ?? '')}\n`);
    }
    return failures.length === 0;
  },
};

export const listSources: WrittenCommand = {
  name: 'sources list',
  words: [0, 0],
  summary: 'Lists the sources of an agent and how far each is indexed',
  options: [agentOption],
  example: 'sources list --agent "Ask the manual"',
  async run({ service, screen, options, switches }) {
    const agent = await findAgent(service, options.get('agent'));
    const sources = await sourcesOf(service, agent.id);
    if (switches.has('json')) screen.out(`${JSON.stringify(sources, null, 2)}\n`);
    else
      screen.out(
        `${sources.length === 0 ? `"${harmless(agent.name)}" has no sources.` : table(await Promise.all(sources.map(async (source) => rowOf(await explained(service, source)))))}\n`,
      );
    return true;
  },
};

async function explained(service: Service, source: Source): Promise<Source> {
  return { ...source, errorMessage: await failureOf(service, source) };
}

function rowOf({ name, id, indexStatus, indexPercentage, errorMessage }: Source): JsonObject {
  return { name, id, status: indexStatus, percent: indexPercentage, reason: errorMessage };
}

type Sent = { readonly name: string } & ({ readonly source: Source } | { readonly reason: string });
interface Outcome {
  readonly name: string;
  readonly id: string | null;
  readonly status: string;
  /** Why it failed; null when it is indexed. */
  readonly reason: string | null;
  /** What an indexed source says of its last run, such as a bound that it reached. */
  readonly note: string | null;
}

function outcomeOf(sent: Sent, byId: ReadonlyMap<string, Source>): Outcome {
  if ('reason' in sent) return { name: sent.name, id: null, status: 'REFUSED', reason: sent.reason, note: null };
  const { id, indexStatus, errorMessage } = byId.get(sent.source.id) ?? { ...sent.source, indexStatus: 'DELETED' };
  const outcome = { name: sent.name, id, status: indexStatus };
  if (indexStatus === 'INDEXED') return { ...outcome, reason: null, note: errorMessage };
  return { ...outcome, reason: errorMessage ?? `It is ${indexStatus.toLowerCase()}.`, note: null };
}

/**
 * Shows how far a step is: on a terminal as one line that the next one replaces, else as a line for each tenth, so that a log tells it and is not
 * filled by it.
 */
function progressOf(screen: Screen, step: string, total: number): (done: number, percent?: number) => void {
  let looks = 0;
  let shownTenth = -1;
  return (done, percent = total === 0 ? 100 : Math.floor((done / total) * 100)) => {
    if (screen.isTerminal) {
      looks += 1;
      screen.progress(`${spinner[looks % spinner.length]} ${step}  ${bar(percent, 100)}  ${done}/${total}`);
      return;
    }
    const tenth = Math.floor(percent / 10);
    if (tenth <= shownTenth) return;
    shownTenth = tenth;
    screen.err(`${step}: ${percent} %, ${done} of ${total}\n`);
  };
}
const spinner = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Sends everything, a few files at one time. What is refused does not keep the rest from being sent. */
async function send(
  { service, screen, signal }: CommandContext,
  agentId: string,
  files: readonly string[],
  addresses: readonly ReturnType<SourceChoice['webUrl']>[],
): Promise<readonly Sent[]> {
  const base = `/api/v1/ais/${agentId}/data-sources`;
  const tasks: { name: string; send: () => Promise<unknown> }[] = [
    ...files.map((path) => ({
      name: path,
      async send() {
        const form = new FormData();
        form.set('file', await openAsBlob(path), basename(path));
        return service.send('POST', `${base}/file`, form);
      },
    })),
    ...addresses.map((body) => ({ name: String(body.url), send: () => service.send('POST', `${base}/web-url`, body) })),
  ];
  const done = new Map<string, Sent>();
  const queue = tasks.values();
  const show = progressOf(screen, 'Sending', tasks.length);
  const work = async () => {
    for (const { name, send } of queue) {
      show(done.size);
      const outcome = await send().then(
        (source) => ({ name, source: source as Source }),
        (error: unknown) => {
          if (!(error instanceof Failure)) throw error;
          signal.throwIfAborted();
          return { name, reason: error.message };
        },
      );
      done.set(name, outcome);
    }
  };
  await Promise.all(Array.from({ length: uploadsAtOnce }, work));
  show(done.size);
  return tasks.flatMap(({ name }) => done.get(name) ?? []);
}

interface Place {
  readonly path: string;
  readonly isFolder: boolean;
}

/** @throws Failure for a path that is neither a file nor a folder. */
async function placeOf(path: string): Promise<Place> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw failed(`There is no file or folder "${path}". Addresses begin with http:// or https://.`);
  return { path, isFolder: found.isDirectory() };
}

/** The file, or the files below a folder that are taken, by name. @throws Failure for a folder without such files. */
async function filesOf({ path, isFolder }: Place, choice: SourceChoice): Promise<readonly string[]> {
  if (!isFolder) return [path];
  const files: string[] = [];
  const pending = [path];
  let seen = 0;
  for (const folder of pending) {
    for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      const inside = join(folder, entry.name);
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) pending.push(inside);
      if (!entry.isFile()) continue;
      seen += 1;
      if (choice.takes(relative(path, inside))) files.push(inside);
    }
    if (files.length > filesMax) throw failed(`"${path}" holds more than ${filesMax} files. Name folders inside it one by one.`);
  }
  if (seen === 0) throw failed(`"${path}" holds no files.`);
  if (files.length === 0) throw failed(`None of the ${seen} files of "${path}" fits --include and --exclude.`);
  return files;
}
