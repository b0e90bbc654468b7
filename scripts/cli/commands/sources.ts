import { openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '../../../src/lib/json.ts';
import { findAgent } from '../agents.ts';
import { Failure, failed } from '../failure.ts';
import { bar, harmless } from '../output/screen.ts';
import { table } from '../output/table.ts';
import type { Service } from '../service.ts';
import { failureOf, isAtRest, type Source, sourcesOf, whenIndexed } from '../sources.ts';
import { agentOption, type CommandContext, type WrittenCommand } from './command.ts';

const uploadsAtOnce = 3;
const filesMax = 5_000;
/** Folders that hold no documents of a person. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '__pycache__']);

export const addSources: WrittenCommand = {
  name: 'sources add',
  takes: '<folder|file|url>…',
  words: [1, Number.POSITIVE_INFINITY],
  summary: 'Gives an agent knowledge: the files of a folder, single files, or web sites',
  details:
    'Waits until all of it is indexed, and says of each failure why. Hidden files and node_modules are left out. Ends with 1 when something failed. Ctrl-C stops waiting; what was sent goes on being indexed.',
  options: [agentOption],
  example: 'sources add ./docs --agent "Ask the manual"',
  async run(context) {
    const { service, screen, words, options, switches, signal } = context;
    const agent = await findAgent(service, options.get('agent'));
    const urls = words.filter((word) => /^https?:\/\//i.test(word));
    const files = (await Promise.all(words.filter((word) => !urls.includes(word)).map(filesOf))).flat();
    const sent = await send(context, agent.id, files, urls);
    const ids = new Set(sent.flatMap((one) => ('source' in one ? [one.source.id] : [])));
    const show = (sources: readonly Source[]) => screen.progress(`Indexing  ${bar(sources.filter(isAtRest).length, ids.size)}`);
    const wanted = ({ id }: Source) => ids.has(id);
    const timeoutMs = Number.POSITIVE_INFINITY;
    const indexed = ids.size === 0 ? [] : await whenIndexed(service, agent.id, wanted, show, { timeoutMs, signal });
    screen.progress('');
    const byId = new Map(
      await Promise.all(indexed.map(async (source) => [source.id, await explained(service, source)] as const)),
    );
    const outcomes = sent.map((one) => outcomeOf(one, byId));
    const failures = outcomes.filter(({ reason }) => reason !== null);
    if (switches.has('json')) screen.out(`${JSON.stringify({ agentId: agent.id, sources: outcomes }, null, 2)}\n`);
    else {
      screen.out(`${outcomes.length - failures.length} of ${outcomes.length} indexed for "${harmless(agent.name)}".\n`);
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
}

function outcomeOf(sent: Sent, byId: ReadonlyMap<string, Source>): Outcome {
  if ('reason' in sent) return { name: sent.name, id: null, status: 'REFUSED', reason: sent.reason };
  const { id, indexStatus, errorMessage } = byId.get(sent.source.id) ?? { ...sent.source, indexStatus: 'DELETED' };
  const reason = indexStatus === 'INDEXED' ? null : (errorMessage ?? `It is ${indexStatus.toLowerCase()}.`);
  return { name: sent.name, id, status: indexStatus, reason };
}

/** Sends everything, a few files at one time. What is refused does not keep the rest from being sent. */
async function send(
  { service, screen, signal }: CommandContext,
  agentId: string,
  files: readonly string[],
  urls: readonly string[],
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
    ...urls.map((url) => ({
      name: url,
      send: () =>
        service.send('POST', `${base}/web-url`, { url, dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] }),
    })),
  ];
  const done = new Map<string, Sent>();
  const queue = tasks.values();
  const work = async () => {
    for (const { name, send } of queue) {
      screen.progress(`Sending  ${bar(done.size, tasks.length)}`);
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
  return tasks.flatMap(({ name }) => done.get(name) ?? []);
}

/** The file, or the files below a folder, by name. @throws Failure for a path that is neither, and for a folder without files. */
async function filesOf(path: string): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw failed(`There is no file or folder "${path}". Addresses begin with http:// or https://.`);
  if (!found.isDirectory()) return [path];
  const files: string[] = [];
  const pending = [path];
  for (const folder of pending) {
    for (const entry of (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory() && !skippedFolders.has(entry.name)) pending.push(join(folder, entry.name));
      else if (entry.isFile()) files.push(join(folder, entry.name));
    }
    if (files.length > filesMax) throw failed(`"${path}" holds more than ${filesMax} files. Name folders inside it one by one.`);
  }
  if (files.length === 0) throw failed(`"${path}" holds no files.`);
  return files;
}
