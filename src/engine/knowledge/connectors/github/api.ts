import { membersOf } from '../../../../lib/json/json.ts';
import type { ConnectorServices } from '../connector.ts';
import { SourceError } from '../error.ts';
import type { ServiceReply, ServiceRequest, ServiceToken } from '../service-client/client.ts';
import { CursorTrail } from '../service-client/cursor-trail.ts';
import { slowDownMs } from './slow-down.ts';

/** A repository, as the installation sees it. */
export interface Repository {
  readonly id: number;
  /** owner/name. */
  readonly fullName: string;
  readonly branch: string;
  readonly htmlUrl: string;
}

/** The newest state of a repository. */
export interface Head {
  readonly commit: string;
  readonly tree: string;
}

export interface TreeFile {
  readonly path: string;
  readonly sha: string;
  readonly sizeBytes: number;
}

export interface TreeFolder {
  readonly path: string;
  readonly sha: string;
}

const service = 'the repository host';
const perPage = 100;
const pagesMax = 1_000;

/** The calls of a repository host that reading needs. */
export class RepoHostApi {
  readonly #services: ConnectorServices;
  readonly #token: ServiceToken;

  constructor(services: ConnectorServices, token: ServiceToken) {
    this.#services = services;
    this.#token = token;
  }

  /** A request with what every call carries. */
  request(path: string, more: Partial<ServiceRequest> = {}): ServiceRequest {
    const { headers, ...rest } = more;
    return {
      service,
      url: this.#services.settings.GITHUB_API_URL + path,
      token: this.#token,
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28', ...headers },
      slowDownMs,
      ...rest,
    };
  }

  /** All repositories of the installation, a page at a time. */
  async *installationRepositories(signal: AbortSignal): AsyncGenerator<readonly Repository[], void, void> {
    const trail = new CursorTrail('The repository host');
    const ids = new Set<number>();
    let last: string | undefined;
    for (let page = 1; page <= pagesMax; page += 1) {
      const path = `/installation/repositories?per_page=${perPage}&page=${page}`;
      const { repositories, total_count: total } = membersOf(await this.#json(path, signal));
      const readableRepositories = readList(repositories).map(readRepository);
      // Pages are numbered: one that holds what an earlier one held is that page again.
      const content = readableRepositories.map(({ id }) => id).join();
      if (readableRepositories.length > 0) last = trail.follow('repositories', last, content);
      for (const { id } of readableRepositories) ids.add(id);
      yield readableRepositories;
      if (readableRepositories.length === perPage) continue;
      if (typeof total !== 'number' || ids.size >= total) return;
      throw new SourceError('BAD_REPLY', `The repository host named ${ids.size} of ${total} repositories of the installation.`);
    }
    throw new SourceError('UNSUPPORTED', 'The installation has more repositories than can be listed.');
  }

  /** @returns undefined when it is not there, or the installation may not see it. */
  async repository(fullName: string, signal: AbortSignal): Promise<Repository | undefined> {
    return missingIsUndefined(async () => readRepository(await this.#json(`/repos/${inPath(fullName)}`, signal)));
  }

  /** @returns undefined for an empty repository. */
  async head({ fullName, branch }: Repository, signal: AbortSignal): Promise<Head | undefined> {
    const path = `/repos/${inPath(fullName)}/commits/${encodeURIComponent(branch)}`;
    const reply = await this.#services.vendors.send(this.request(path, { accept: [409] }), signal);
    if (reply.status === 409) return undefined;
    const { sha, commit } = membersOf(parsed(reply));
    return { commit: readText(sha), tree: readText(membersOf(membersOf(commit).tree).sha) };
  }

  /** The entries of a tree; `isTruncated`: the host left some out. */
  async tree(
    fullName: string,
    sha: string,
    isRecursive: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly files: readonly TreeFile[]; readonly folders: readonly TreeFolder[]; readonly isTruncated: boolean }> {
    const path = `/repos/${inPath(fullName)}/git/trees/${sha}${isRecursive ? '?recursive=1' : ''}`;
    const { tree, truncated } = membersOf(await this.#json(path, signal));
    const files: TreeFile[] = [];
    const folders: TreeFolder[] = [];
    for (const entry of readList(tree).map(membersOf)) {
      const place = { path: readText(entry.path), sha: readText(entry.sha) };
      // Links and modules of other repositories are neither.
      if (entry.type === 'blob' && entry.mode !== '120000') files.push({ ...place, sizeBytes: Number(entry.size ?? 0) });
      else if (entry.type === 'tree') folders.push(place);
    }
    return { files, folders, isTruncated: truncated === true };
  }

  async #json(path: string, signal: AbortSignal): Promise<unknown> {
    return this.#services.vendors.json(this.request(path), signal);
  }
}

/** A list without its member is a reply that was cut, and never an empty repository. */
function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value))
    throw new SourceError('BAD_REPLY', 'The repository host answered without the list that was asked for.');
  return value;
}

/** A part of an address for each part of a name. */
export function inPath(name: string): string {
  return name.toWellFormed().split('/').map(encodeURIComponent).join('/');
}

async function missingIsUndefined<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SourceError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

function readRepository(repositoryJson: unknown): Repository {
  const { id, full_name: fullName, default_branch: branch, html_url: htmlUrl } = membersOf(repositoryJson);
  if (typeof id !== 'number') throw new SourceError('BAD_REPLY', 'The repository host named a repository without an id.');
  return { id, fullName: readText(fullName), branch: readText(branch), htmlUrl: readText(htmlUrl) };
}

function parsed(reply: ServiceReply): unknown {
  try {
    return JSON.parse(reply.body.toString('utf8'));
  } catch {
    throw new SourceError('BAD_REPLY', 'The repository host answered with something that is no JSON.');
  }
}

function readText(value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new SourceError('BAD_REPLY', 'The repository host left out a part of its answer.');
  return value;
}
