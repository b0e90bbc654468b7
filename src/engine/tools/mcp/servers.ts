import { BoundedMap } from '../../../lib/bounded-map.ts';
import type { ShareOwner } from '../../../lib/flow/fair-share.ts';
import { unlessAborted } from '../../../lib/flow/unless-aborted.ts';
import type { McpAuthorization } from './authorization/authorization.ts';
import type { TokenSources } from './authorization/token-sources.ts';
import type { McpEndpoint, SessionOwner } from './endpoint.ts';
import { type McpTools, readTools } from './listing.ts';
import type { OperatorServer } from './servers-file.ts';
import type { RawResult } from './sessions/session.ts';
import { McpSessions, type SessionsOptions } from './sessions/sessions.ts';

export interface McpServersOptions extends SessionsOptions {
  readonly file: readonly OperatorServer[];
  readonly tokens: TokenSources;
  readonly authorization: McpAuthorization;
  readonly toolsTtlMs: number;
  readonly resultCharsMax: number;
}

export interface McpCall {
  /** Its name at the server. */
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** For the server, when the call is made again. */
  readonly key: string;
  readonly signal: AbortSignal;
}

interface Known {
  readonly atMs: number;
  readonly tools: Promise<McpTools>;
}

/** Lists of tools that are remembered. */
const listsMax = 500;

/** The MCP servers that runs call: sessions with them, and what tools they have. */
export class McpServers {
  readonly resultCharsMax: number;
  /** The tokens of connections. */
  readonly tokens: TokenSources;
  /** Gets tokens from the authorization servers that MCP servers name. */
  readonly authorization: McpAuthorization;
  readonly #options: McpServersOptions;
  readonly #sessions: McpSessions;
  readonly #lists = new BoundedMap<string, Known>(listsMax);

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.resultCharsMax = options.resultCharsMax;
    this.tokens = options.tokens;
    this.authorization = options.authorization;
    this.#sessions = new McpSessions(options, (key) => this.#lists.delete(key));
  }

  /** The operator's server of that name, if the organization may name it. */
  findOperators(name: string, { orgId }: Pick<ShareOwner, 'orgId'>): OperatorServer | undefined {
    const operatorServer = this.#options.file.find((server) => server.name === name);
    return operatorServer?.organizations === undefined || operatorServer.organizations.includes(orgId)
      ? operatorServer
      : undefined;
  }

  /** The operator's servers that the organization may name. */
  operatorNames({ orgId }: Pick<ShareOwner, 'orgId'>): readonly string[] {
    return this.#options.file.flatMap(({ name }) => (this.findOperators(name, { orgId }) === undefined ? [] : [name]));
  }

  /**
   * The tools of a server: remembered for a while, and until the server says that they have changed.
   *
   * @param isAnew  asks the server in any case.
   * @throws like `McpSessions.use`.
   */
  async tools(endpoint: McpEndpoint, owner: SessionOwner, signal: AbortSignal, isAnew = false): Promise<McpTools> {
    const key = this.#sessions.keyOf(endpoint, owner);
    const nowMs = this.#options.now().getTime();
    const cachedList = this.#lists.get(key);
    const isFresh = !isAnew && cachedList !== undefined && nowMs - cachedList.atMs < this.#options.toolsTtlMs;
    if (isFresh) return unlessAborted(cachedList.tools, signal);
    // Others may wait for the same list, so it is not this caller's signal that ends the work, but its time limit.
    const pendingList = this.#sessions.use(endpoint, owner, new AbortController().signal, async (session) => {
      const tools = readTools(await session.list());
      return { ...tools, hasResources: session.hasResources };
    });
    const entry: Known = { atMs: nowMs, tools: pendingList };
    this.#lists.set(key, entry);
    entry.tools.catch(() => {
      if (this.#lists.get(key) === entry) this.#lists.delete(key);
    });
    return unlessAborted(entry.tools, signal);
  }

  /** @throws like `McpSessions.use`. */
  call(endpoint: McpEndpoint, owner: SessionOwner, { tool, args, key, signal }: McpCall): Promise<RawResult> {
    const timeoutMs = this.#options.callTimeoutMs;
    return this.#sessions.use(endpoint, owner, signal, (session) => session.call(tool, args, { key, timeoutMs, signal }));
  }

  /** Reads a resource of a server, in the form of a call's result. @throws like `McpSessions.use`. */
  async read(endpoint: McpEndpoint, owner: SessionOwner, uri: string, signal: AbortSignal): Promise<RawResult> {
    const options = { timeoutMs: this.#options.callTimeoutMs, signal };
    const parts = await this.#sessions.use(endpoint, owner, signal, (session) => session.read(uri, options));
    return { content: parts.map((resource) => ({ type: 'resource', resource })) };
  }

  /** Ends the sessions of a connection that was deleted or connected again. */
  async connectionChanged(connectionId: string): Promise<void> {
    for (const source of this.#sessions.tokensOf(connectionId)) {
      if (!(await this.tokens.isCurrent(source))) await this.#sessions.endGrant(source);
    }
  }

  /** Ends all sessions and programs. */
  async close(): Promise<void> {
    await this.#sessions.close();
    await this.#options.operatorEgress.close();
  }
}
