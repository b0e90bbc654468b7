import { DomainError } from '../../../../entities/ground/errors.ts';
import type { Connection, ConnectionSecrets, McpGrant } from '../../../../entities/knowledge/connection.ts';
import { BoundedMap } from '../../../../lib/bounded-map.ts';
import type { ShareOwner } from '../../../../lib/flow/fair-share.ts';
import type { Storage } from '../../../../storage/storage.ts';
import { openSecrets, sealSecrets } from '../../../knowledge/connections/secrets.ts';
import { renewAlone } from '../../../knowledge/connections/tokens.ts';
import { SourceError } from '../../../knowledge/connectors/error.ts';
import type { Lease } from '../../../leases.ts';
import type { McpAuthorization, McpTokens } from './authorization.ts';

/** What a server demands that refuses a request with 403. */
export interface ScopeDemand {
  readonly scope: string;
}

/** The token of one connection with an MCP server. */
export interface TokenSource {
  readonly connectionId: string;
  /** Whose consent the tokens are of. */
  readonly ownerUserId: string;
  /** Another one after each consent. */
  readonly grantId: string;
  /** Tokens that this process has sent: they must not be shown. */
  readonly sentTokens: readonly string[];
  /**
   * The header `authorization`, read anew for each request: another process may have renewed the token, and a connection that was deleted ends at
   * once. Undefined while nobody has signed in.
   *
   * @throws DomainError SignInNeeded where a person has to sign in; DomainError UPSTREAM_ERROR.
   */
  authorization(signal: AbortSignal): Promise<string | undefined>;
  /** Renews a token that the server refuses. @throws like `authorization` */
  renew(refused: string, signal: AbortSignal): Promise<void>;
  /** Gets a token with more scopes, as far as that needs no person. @throws like `authorization` */
  widen(refused: string, demand: ScopeDemand, signal: AbortSignal): Promise<void>;
  /** Notes that the server wants another sign-in, and throws. */
  refuse(signal: AbortSignal): Promise<never>;
}

export interface TokenSourcesOptions {
  readonly storage: Pick<Storage, 'knowledge' | 'vault' | 'leases'>;
  readonly authorization: McpAuthorization;
  publicUrl(): string;
  now(): Date;
}

/** Sources that are remembered, so that what they sent can be masked. */
const sourcesMax = 2_000;
/** A token is renewed when it has less time than this left. */
const marginMs = 60_000;
/** Of one source: renewed tokens may still be in answers that are under way. */
const sentMax = 4;
/** Of one connection. */
const scopeCharsMax = 4_000;

/** The tokens of connections with MCP servers. */
export class TokenSources {
  readonly #options: TokenSourcesOptions;
  readonly #sources = new BoundedMap<string, TokenSource>(sourcesMax);

  constructor(options: TokenSourcesOptions) {
    this.#options = options;
  }

  /** @param secrets  of the connection, as they are now. */
  open(connection: Connection, { mcp }: ConnectionSecrets, owner: ShareOwner): TokenSource {
    const grantId = mcp?.id ?? '';
    const key = `${connection.id} ${grantId}`;
    const source = this.#sources.get(key) ?? new ConnectionToken(this.#options, connection, grantId, owner);
    this.#sources.set(key, source);
    return source;
  }

  /** Whether the connection still has that grant. */
  async isCurrent({ connectionId, grantId }: TokenSource): Promise<boolean> {
    const { storage } = this.#options;
    const connection = await storage.knowledge.connections.find(connectionId, {});
    const secrets = connection === undefined ? undefined : await openSecrets(storage, connection);
    return secrets !== undefined && (secrets.mcp?.id ?? '') === grantId;
  }
}

interface Current {
  readonly connection: Connection;
  readonly secrets: ConnectionSecrets;
}

class ConnectionToken implements TokenSource {
  readonly connectionId: string;
  readonly ownerUserId: string;
  readonly grantId: string;
  readonly #options: TokenSourcesOptions;
  readonly #owner: ShareOwner;
  readonly #name: string;
  readonly #sent = new BoundedMap<string, true>(sentMax);

  constructor(options: TokenSourcesOptions, { id, ownerUserId, name }: Connection, grantId: string, owner: ShareOwner) {
    this.#options = options;
    this.connectionId = id;
    this.ownerUserId = ownerUserId;
    this.grantId = grantId;
    this.#name = name;
    this.#owner = owner;
  }

  get sentTokens(): readonly string[] {
    return [...this.#sent.entries()].map(([token]) => token);
  }

  async authorization(signal: AbortSignal): Promise<string | undefined> {
    const current = await this.#read();
    const { accessToken, mcp } = current.secrets;
    if (accessToken === undefined || mcp === undefined) return undefined;
    const leftMs = this.#leftMs(current);
    if (leftMs >= marginMs || !canRenew(current.secrets)) return this.#send(accessToken);
    try {
      await this.renew(`Bearer ${accessToken}`, signal);
    } catch (error) {
      // A token that is still good is used while the authorization server cannot give the next.
      if (leftMs <= 0 || error instanceof SignInNeeded) throw error;
      return this.#send(accessToken);
    }
    return this.#send((await this.#read()).secrets.accessToken ?? accessToken);
  }

  renew(refused: string, signal: AbortSignal): Promise<void> {
    return this.#renewAlone(refused, signal, (secrets) => secrets);
  }

  async widen(refused: string, { scope }: ScopeDemand, signal: AbortSignal): Promise<void> {
    const union = (grant: McpGrant) => unionOf(grant.scope, scope);
    const { connection, secrets } = await this.#read();
    const { mcp: grant } = secrets;
    if (grant === undefined) return this.refuse(signal);
    if (grant.kind === 'client') {
      // A server that demands what the token was asked for already is not asked again and again.
      if (union(grant) === grant.scope) throw this.#failure(`refuses its token the rights ${scope}`);
      return this.#renewAlone(refused, signal, (current) => {
        const { mcp } = current;
        return mcp === undefined ? current : { ...current, mcp: { ...mcp, scope: union(mcp) } };
      });
    }
    const demandedScope = unionOf(grant.demandedScope, scope);
    if (grant.demandedScope !== demandedScope) {
      await this.#underLease(signal, async (lease) => {
        const sealed = await sealSecrets(this.#options.storage, connection, { ...secrets, mcp: { ...grant, demandedScope } });
        await this.#options.storage.knowledge.connections.storeRenewal(lease, { sealed, expiresAt: connection.expiresAt });
        await this.#options.storage.knowledge.connections.requireReauthorization(lease);
      });
    }
    throw this.#needsPerson(`wants more rights than were agreed to (${scope})`);
  }

  async refuse(signal: AbortSignal): Promise<never> {
    const { connections } = this.#options.storage.knowledge;
    const { connection } = await this.#read();
    if (!connection.needsReauthorization) await this.#underLease(signal, (lease) => connections.requireReauthorization(lease));
    throw this.#needsPerson('wants a sign-in');
  }

  async #renewAlone(
    refused: string,
    signal: AbortSignal,
    change: (secrets: ConnectionSecrets) => ConnectionSecrets,
  ): Promise<void> {
    const isRenewed = async () => `Bearer ${(await this.#read()).secrets.accessToken}` !== refused;
    const request = async (lease: Lease) => this.#request(lease, change, signal);
    await renewAlone(this.#options.storage.leases, this.connectionId, isRenewed, request, signal);
  }

  async #request(lease: Lease, change: (secrets: ConnectionSecrets) => ConnectionSecrets, signal: AbortSignal): Promise<void> {
    const { storage, authorization } = this.#options;
    const { connections } = storage.knowledge;
    const { connection, secrets: storedSecrets } = await this.#read();
    const secrets = change(storedSecrets);
    const { mcp } = secrets;
    if (mcp === undefined) return;
    let tokens: McpTokens;
    try {
      tokens = await authorization.renew({ ...secrets, mcp }, this.#owner, signal);
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      if (error.code !== 'AUTH') throw this.#failure(`got no new token: ${error.message}`);
      await connections.requireReauthorization(lease);
      throw this.#needsPerson('does not accept the sign-in any more');
    }
    const sealed = await sealSecrets(storage, connection, { ...secrets, ...tokens.secrets });
    // Stored before it is used: the old refresh token may be dead already. A process that was stopped for longer than its lease stores nothing.
    await connections.storeRenewal(lease, { sealed, expiresAt: tokens.expiresAt });
    if (mcp.demandedScope !== null) await connections.requireReauthorization(lease);
  }

  async #underLease(signal: AbortSignal, work: (lease: Lease) => Promise<void>): Promise<void> {
    await renewAlone(this.#options.storage.leases, this.connectionId, async () => false, work, signal);
  }

  async #read(): Promise<Current> {
    const { storage } = this.#options;
    const connection = await storage.knowledge.connections.find(this.connectionId, { ownerUserId: this.ownerUserId });
    const secrets = connection === undefined ? undefined : await openSecrets(storage, connection);
    if (connection === undefined || secrets === undefined || (secrets.mcp?.id ?? '') !== this.grantId) {
      throw this.#failure('was deleted or connected again in the meantime');
    }
    const isOver = connection.needsReauthorization && secrets.mcp !== undefined && secrets.mcp.demandedScope === null;
    if (isOver) throw this.#needsPerson('does not accept the sign-in any more');
    return { connection, secrets };
  }

  #leftMs({ connection: { expiresAt } }: Current): number {
    return expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime() - this.#options.now().getTime();
  }

  #send(accessToken: string): string {
    this.#sent.set(accessToken, true);
    return `Bearer ${accessToken}`;
  }

  /** The model repeats it to the person, so it says what to do. */
  #needsPerson(what: string): SignInNeeded {
    const connectUrl = `${this.#options.publicUrl()}/account/connections`;
    const message = `it ${what}: the owner of the connection "${this.#name}" has to sign in at ${connectUrl}`;
    return new SignInNeeded(message, connectUrl);
  }

  #failure(what: string): DomainError {
    return new DomainError('UPSTREAM_ERROR', `the connection "${this.#name}" ${what}`);
  }
}

/** Only a person can mend it: the owner of the connection, at this address. */
export class SignInNeeded extends DomainError {
  readonly connectUrl: string;

  constructor(message: string, connectUrl: string) {
    super('UPSTREAM_ERROR', message);
    this.connectUrl = connectUrl;
  }
}

function canRenew({ refreshToken, mcp }: ConnectionSecrets): boolean {
  return refreshToken !== undefined || mcp?.kind === 'client';
}

function unionOf(...scopes: readonly (string | null)[]): string {
  return [...new Set(scopes.flatMap((scope) => scope?.split(/\s+/).filter(Boolean) ?? []))].join(' ').slice(0, scopeCharsMax);
}
