import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path/posix';
import { membersOf, readStringMembers } from '../../../../lib/json/json.ts';
import type { Connector, ConnectorServices, FetchTask, ListedItem, ListedPage, ListTask } from '../connector.ts';
import { SourceError } from '../error.ts';
import { type Head, inPath, RepoHostApi, type Repository, type TreeFile } from './api.ts';
import { fileBytesMax, findSkipReason, isText, type Skipped } from './selection.ts';
import { filesOfTarball } from './tarball.ts';

const itemsAtOnce = 100;
/** From this many new files on, one archive is cheaper than a call for each. */
const archiveFrom = 20;
/** Folders of a tree that the host cut off; more than this is no repository of text. */
const foldersMax = 20_000;

/** What a run leaves: the tree of each repository, so that one that did not change costs one call. */
interface State {
  readonly trees: Readonly<Record<string, string>>;
}
/** Repositories are read in the order of their ids. */
interface Place extends State {
  readonly after: number;
}

/** Reads text files of repositories that an installation of the App sees, at the newest commit of their default branches. */
export function createRepoHost(services: ConnectorServices): Connector {
  return {
    async *list(task) {
      const api = await open(services, task);
      const before = readState(task.state).trees;
      let place = readPlace(task.place);
      const trees: Record<string, string> = { ...place.trees };
      const { repositories, isComplete } = await loadRepositories(api, task);
      for (const repository of repositories) {
        if (repository.id <= place.after) continue;
        task.progress(repository.fullName);
        const head = await api.head(repository, task.signal);
        const id = String(repository.id);
        if (head !== undefined) {
          if (before[id] === head.tree) yield { items: [], unchangedParents: [id], place };
          else yield* readRepository(services, api, task, repository, head, place);
          trees[id] = head.tree;
        }
        place = { after: repository.id, trees: { ...trees } };
        yield { items: [], place };
      }
      return { isComplete, state: { trees } satisfies State };
    },
    async fetch(task) {
      const api = await open(services, task);
      const { repository, sha } = task.item.metadata;
      if (typeof repository !== 'string' || typeof sha !== 'string')
        throw new SourceError('NOT_FOUND', 'The file is not known: refresh the source.');
      const path = `/repos/${inPath(repository)}/git/blobs/${sha}`;
      const request = api.request(path, { headers: { accept: 'application/vnd.github.raw+json' } });
      const { body } = await services.vendors.send(request, task.signal);
      if (body.length > Math.min(fileBytesMax, task.bytesMax))
        throw new SourceError('TOO_LARGE', `The file has ${body.length} bytes; up to ${fileBytesMax} are read.`);
      if (!isText(body)) throw notText();
      await writeFile(task.path, body, { mode: 0o600 });
      return {};
    },
  };
}

async function open(services: ConnectorServices, { source }: Pick<ListTask | FetchTask, 'source'>): Promise<RepoHostApi> {
  const token = await services.installations.open(Number(source.data.repoHostAppInstallationId), source);
  return new RepoHostApi(services, token);
}

/** In the order of their ids. One that a source names and that is not there is missing from a complete listing, as a deleted one is. */
async function loadRepositories(
  api: RepoHostApi,
  { source, signal }: ListTask,
): Promise<{ readonly repositories: readonly Repository[]; readonly isComplete: boolean }> {
  const { mode, repos } = source.data;
  const repositoryList: Repository[] = [];
  if (mode === 'all') {
    for await (const page of api.installationRepositories(signal)) repositoryList.push(...page);
  } else {
    const names = (Array.isArray(repos) ? repos : []).filter((name) => typeof name === 'string');
    for (const name of names) {
      const repository = await api.repository(name, signal);
      if (repository !== undefined) repositoryList.push(repository);
    }
    if (repositoryList.length === 0) {
      throw new SourceError(
        'NOT_FOUND',
        `The installation does not see ${names.join(', ')}: give the App access to it, or change the source.`,
      );
    }
  }
  const byId = new Map(repositoryList.map((repository) => [repository.id, repository]));
  return { repositories: [...byId.values()].sort((a, b) => a.id - b.id), isComplete: true };
}

async function* readRepository(
  services: ConnectorServices,
  api: RepoHostApi,
  task: ListTask,
  repository: Repository,
  head: Head,
  place: Place,
): AsyncGenerator<ListedPage, void, void> {
  // Kept whole: what of it changed decides how the rest is read. 100,000 entries, the most of one answer, take 30 MB.
  const files = await loadTree(api, repository.fullName, head.tree, task.signal);
  const skippedFiles = new Map<string, Skipped>();
  const wantedFiles: TreeFile[] = [];
  for (const file of files) {
    const reason = findSkipReason(file.path, file.sizeBytes);
    if (reason === undefined) wantedFiles.push(file);
    else skippedFiles.set(reason.path, reason);
  }
  const about = { repository, head };
  for (const part of parts([...skippedFiles.values()])) yield { items: part.map((each) => skippedItem(about, each)), place };
  const changedFiles: TreeFile[] = [];
  for (const part of parts(wantedFiles)) {
    const existingItems = await task.known(part.map(({ path }) => toItemId(repository, path)));
    const same: TreeFile[] = [];
    for (const file of part) {
      const isSame = !task.isForced && existingItems.get(toItemId(repository, file.path))?.changeKey === file.sha;
      (isSame ? same : changedFiles).push(file);
    }
    if (same.length > 0) yield { items: same.map((file) => toItem(about, file)), place };
  }
  if (changedFiles.length < archiveFrom) {
    for (const part of parts(changedFiles)) yield { items: part.map((file) => toItem(about, file)), place };
    return;
  }
  const byPath = new Map(changedFiles.map((file) => [file.path, file]));
  let items: ListedItem[] = [];
  for await (const { file, content } of filesOfTarball(
    services,
    api,
    task.source,
    repository.fullName,
    head.commit,
    byPath,
    task.signal,
  )) {
    byPath.delete(file.path);
    const item = toItem(about, file);
    const reason = { code: 'UNSUPPORTED', message: notText().message };
    items.push(isText(content) ? { ...item, content } : { ...item, skipped: reason });
    if (items.length < itemsAtOnce / 4) continue;
    yield { items, place };
    items = [];
  }
  // What an archive leaves out, as its attributes may say, is fetched file by file.
  for (const part of parts([...items, ...[...byPath.values()].map((file) => toItem(about, file))])) yield { items: part, place };
}

/** All files of a tree; folder by folder where the host cuts its answer off. */
async function loadTree(api: RepoHostApi, fullName: string, sha: string, signal: AbortSignal): Promise<readonly TreeFile[]> {
  const all = await api.tree(fullName, sha, true, signal);
  if (!all.isTruncated) return all.files;
  const files: TreeFile[] = [];
  const waiting = [{ path: '', sha }];
  for (let count = 0; waiting.length > 0; count += 1) {
    if (count > foldersMax) throw new SourceError('TOO_LARGE', `${fullName} has more than ${foldersMax} folders.`);
    const { path, sha: folder } = waiting.pop() ?? { path: '', sha: '' };
    const { files: here, folders } = await api.tree(fullName, folder, false, signal);
    for (const file of here) files.push({ ...file, path: path + file.path });
    for (const each of folders) {
      const inside = `${path}${each.path}/`;
      const reason = findSkipReason(`${inside}x`, 0);
      // One file stands for a folder that is left out as a whole.
      if (reason === undefined) waiting.push({ path: inside, sha: each.sha });
      else files.push({ path: `${inside}x`, sha: each.sha, sizeBytes: 0 });
    }
  }
  return files;
}

interface About {
  readonly repository: Repository;
  readonly head: Head;
}

function toItemId({ id }: Repository, path: string): string {
  return `${id}:${path}`;
}

function toItem({ repository, head }: About, { path, sha, sizeBytes }: TreeFile): ListedItem {
  return {
    uniqueId: toItemId(repository, path),
    parentUniqueId: String(repository.id),
    name: `${repository.fullName}/${path}`,
    url: `${repository.htmlUrl}/blob/${head.commit}/${inPath(path)}`,
    changeKey: sha,
    filename: basename(path),
    mimeType: 'text/plain',
    sizeBytes,
    metadata: { repository: repository.fullName, path, sha, commit: head.commit },
  };
}

function skippedItem(about: About, { path, code, message }: Skipped): ListedItem {
  return { ...toItem(about, { path, sha: '', sizeBytes: 0 }), changeKey: null, skipped: { code, message } };
}

function notText(): SourceError {
  return new SourceError('UNSUPPORTED', 'The file is not text.');
}

function* parts<T>(all: readonly T[]): Generator<readonly T[], void, void> {
  for (let at = 0; at < all.length; at += itemsAtOnce) yield all.slice(at, at + itemsAtOnce);
}

function readState(state: unknown): State {
  return { trees: readStringMembers(membersOf(state).trees) };
}

function readPlace(place: unknown): Place {
  const { after, trees } = membersOf(place);
  return { after: typeof after === 'number' ? after : 0, trees: readStringMembers(trees) };
}
