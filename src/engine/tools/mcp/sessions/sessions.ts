import { createHmac, randomBytes } from 'node:crypto';
import { DomainError } from '../../../../entities/ground/errors.ts';
import { unlessAborted } from '../../../../lib/flow/unless-aborted.ts';
import type { AdmissionPool } from '../../../sharing/pools.ts';
import type { TokenSource } from '../authorization/token-sources.ts';
import type { McpEndpoint, SessionOwner } from '../endpoint.ts';
import type { OpenContext } from './open.ts';
import type { McpSession } from './session.ts';

export interface SessionsOptions extends OpenContext {
  readonly version: string;
  readonly idleTimeoutMs: number;
  /** Places for sessions with addresses. Programs are bounded by the operator's file. */
  readonly places: AdmissionPool;
  now(): Date;
}

/** A session that is still being opened is not waited for longer; its program ends with the process. */
const closingMs = 3_000;

interface Held {
  readonly key: string;
  readonly endpoint: McpEndpoint;
  readonly owner: SessionOwner;
  readonly opened: Promise<McpSession>;
  /** Calls under way. */
  calls: number;
  idle: NodeJS.Timeout | undefined;
}

/**
 * The open sessions of this process. A user's calls with the same credentials share one; an operator's program is shared by all who may name it. A
 * session without calls ends after a while.
 */
export class McpSessions {
  readonly #options: SessionsOptions;
  readonly #held = new Map<string, Held>();
  readonly #closing = new Set<Promise<void>>();
  readonly #restarts: Restarts;
  readonly #onToolsChanged: (key: string) => void;
  /** Keys of this map hold hashes of credentials, made with a secret of this process. */
  readonly #hashKey = randomBytes(32);
  #isStopped = false;

  /** @param onToolsChanged  gets the key of the server whose tools have changed. */
  constructor(options: SessionsOptions, onToolsChanged: (key: string) => void) {
    this.#options = options;
    this.#onToolsChanged = onToolsChanged;
    this.#restarts = new Restarts(options.now);
  }

  /** Equal for calls that may share a session. */
  keyOf(endpoint: McpEndpoint, { orgId, userId }: SessionOwner): string {
    if (endpoint.kind === 'program') return `program ${endpoint.name}`;
    const headers = JSON.stringify(Object.entries(endpoint.headers).sort());
    const hash = createHmac('sha256', this.#hashKey).update(headers).digest('base64url');
    const { connectionId = '', grantId = '' } = endpoint.token ?? {};
    return `http ${orgId} ${userId} ${endpoint.isTrusted} ${endpoint.url} ${hash} ${connectionId} ${grantId}`;
  }

  /**
   * Works with a session, a new one if need be. When the server has forgotten the session, it is opened anew once: nothing was done in it.
   *
   * @throws McpFailure; DomainError when there is no place for a session, or its program has crashed a moment ago; the reason of the signal.
   */
  async use<T>(
    endpoint: McpEndpoint,
    owner: SessionOwner,
    signal: AbortSignal,
    work: (session: McpSession) => Promise<T>,
  ): Promise<T> {
    for (let isAgain = false; ; isAgain = true) {
      const entry = this.#hold(endpoint, owner);
      entry.calls += 1;
      clearTimeout(entry.idle);
      try {
        const session = await unlessAborted(entry.opened, signal);
        return await work(session);
      } catch (error) {
        const isLost = error instanceof Error && 'isSessionLost' in error && error.isSessionLost === true;
        if (!isLost || isAgain) throw error;
        this.#end(entry);
      } finally {
        entry.calls -= 1;
        this.#rest(entry);
      }
    }
  }

  /** The tokens of a connection that open sessions are made with. */
  tokensOf(connectionId: string): readonly TokenSource[] {
    const tokens = [...this.#held.values()].flatMap(({ endpoint }) => (endpoint.kind === 'http' ? (endpoint.token ?? []) : []));
    return [...new Set(tokens)].filter((token) => token.connectionId === connectionId);
  }

  /** Ends the sessions of a grant, and waits until their servers know. */
  async endGrant(token: TokenSource): Promise<void> {
    for (const entry of this.#held.values()) {
      if (entry.endpoint.kind === 'http' && entry.endpoint.token === token) this.#end(entry);
    }
    await this.#closed();
  }

  /** Ends all sessions and programs. */
  async close(): Promise<void> {
    this.#isStopped = true;
    for (const entry of this.#held.values()) this.#end(entry);
    await this.#closed();
  }

  async #closed(): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, closingMs).unref());
    await Promise.race([Promise.all(this.#closing), late]);
  }

  #hold(endpoint: McpEndpoint, owner: SessionOwner): Held {
    if (this.#isStopped) throw new DomainError('OVERLOADED', 'The service is stopping');
    const key = this.keyOf(endpoint, owner);
    const existingEntry = this.#held.get(key);
    if (existingEntry !== undefined) return existingEntry;
    if (endpoint.kind === 'program') this.#restarts.require(endpoint.name);
    else this.#enter(owner);
    const entry: Held = { key, endpoint, owner, opened: this.#open(key, endpoint, owner), calls: 0, idle: undefined };
    this.#held.set(key, entry);
    entry.opened.catch(() => this.#forget(key, entry));
    return entry;
  }

  async #open(key: string, endpoint: McpEndpoint, owner: SessionOwner): Promise<McpSession> {
    const { openSession } = await import('./open.ts');
    const { version, startTimeoutMs, now } = this.#options;
    const startedAt = now();
    const opening = openSession(endpoint, owner, this.#options, {
      version,
      startTimeoutMs,
      onToolsChanged: () => this.#onToolsChanged(key),
      onClose: () => {
        const currentEntry = this.#held.get(key);
        // A session that is ended here has left the map before: this one ended by itself.
        if (endpoint.kind === 'program' && currentEntry !== undefined) this.#restarts.crashed(endpoint.name, startedAt);
        if (currentEntry !== undefined) this.#forget(key, currentEntry);
      },
    });
    if (endpoint.kind === 'program') opening.catch(() => this.#restarts.crashed(endpoint.name, startedAt));
    return opening;
  }

  /** Takes a place, if need be that of a session that nobody uses. */
  #enter(owner: SessionOwner): void {
    const { places } = this.#options;
    for (let refusal = places.share.refusal(owner); refusal !== undefined; refusal = places.share.refusal(owner)) {
      const isNear = (other: SessionOwner) =>
        refusal === 'full' || (refusal === 'tenant' ? other.tenantId === owner.tenantId : other.orgId === owner.orgId);
      const idle = [...this.#held.values()].find((one) => one.calls === 0 && one.endpoint.kind === 'http' && isNear(one.owner));
      if (idle === undefined) break;
      this.#end(idle);
    }
    places.enter(owner);
  }

  #rest(entry: Held): void {
    if (entry.calls > 0 || this.#held.get(entry.key) !== entry) return;
    // The session that rested longest is the first of the map, and gives up its place first.
    this.#held.delete(entry.key);
    this.#held.set(entry.key, entry);
    entry.idle = setTimeout(() => this.#end(entry), this.#options.idleTimeoutMs).unref();
  }

  #end(entry: Held): void {
    this.#forget(entry.key, entry);
    const closing = entry.opened.then(
      (session) => session.close(),
      () => undefined,
    );
    this.#closing.add(closing);
    void closing.finally(() => this.#closing.delete(closing));
  }

  #forget(key: string, entry: Held): void {
    clearTimeout(entry.idle);
    if (this.#held.get(key) !== entry) return;
    this.#held.delete(key);
    if (entry.endpoint.kind === 'http') this.#options.places.leave(entry.owner);
  }
}

/** A program that ran longer than this before it crashed counts as sound. */
const soundMs = 60_000;
const firstWaitMs = 500;
const waitMaxMs = 60_000;

interface Crashes {
  readonly count: number;
  readonly notBeforeMs: number;
}

/** How soon a program that crashed is started again: after half a second, then twice as long each time, a minute at most. */
class Restarts {
  readonly #crashes = new Map<string, Crashes>();
  readonly #now: () => Date;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @throws DomainError OVERLOADED while the program must wait. */
  require(name: string): void {
    const leftMs = (this.#crashes.get(name)?.notBeforeMs ?? 0) - this.#now().getTime();
    if (leftMs <= 0) return;
    const seconds = Math.ceil(leftMs / 1_000);
    throw new DomainError(
      'OVERLOADED',
      `The MCP server ${name} ended unexpectedly; it is started again in ${seconds} s at the earliest`,
    );
  }

  crashed(name: string, startedAt: Date): void {
    const nowMs = this.#now().getTime();
    const before = nowMs - startedAt.getTime() > soundMs ? 0 : (this.#crashes.get(name)?.count ?? 0);
    const waitMs = Math.min(waitMaxMs, firstWaitMs * 2 ** before);
    this.#crashes.set(name, { count: before + 1, notBeforeMs: nowMs + waitMs });
  }
}
