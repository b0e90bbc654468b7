import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { Connection, ConnectionKind, ConnectionProvider } from '../../../entities/knowledge/connection.ts';
import { settled } from '../../ground/conflicts.ts';
import type { Lease } from '../../ground/leases.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { PublishingStore } from '../../ground/store.ts';

/** Which connections; an absent member does not narrow the list. */
export interface ConnectionScope {
  readonly orgId?: string;
  readonly ownerUserId?: string;
}
export interface ConnectionListQuery {
  readonly kind?: ConnectionKind;
  readonly provider?: ConnectionProvider;
}
/** `sealed` is sealed for `connectionPlace`. */
export type NewConnection = Omit<Connection, 'updatedAt' | 'needsReauthorization'> & { readonly sealed: string };
/** A new token makes a connection good again. */
export type ConnectionChanges = Partial<Pick<Connection, 'name' | 'scopes' | 'expiresAt'>> & { readonly sealed?: string };

/** An installation at a repository host, as sources name it. */
export type InstallationName = Pick<Connection, 'orgId' | 'ownerUserId'> & { readonly installationId: number };

/** The place that the secrets of a connection are sealed for. */
export function connectionPlace({ id, orgId }: Pick<Connection, 'id' | 'orgId'>) {
  return { orgId, table: 'connections', rowId: id };
}

/** Everything except the sealed secrets: no list can return them by mistake. */
const shownColumns = {
  id: true,
  createdAt: true,
  updatedAt: true,
  orgId: true,
  ownerUserId: true,
  kind: true,
  provider: true,
  name: true,
  baseUrl: true,
  installationId: true,
  scopes: true,
  expiresAt: true,
  needsReauthorization: true,
} as const;

export class ConnectionStore extends PublishingStore {
  async find(id: string, scope: ConnectionScope): Promise<Connection | undefined> {
    const row = await this.db.prisma.connection.findFirst({ where: { ...scope, id }, select: shownColumns });
    return row === null ? undefined : toConnection(row);
  }

  /** Those with one of the ids, and those that are one of the installations, newest first. */
  async findMany(
    { ids, installations = [] }: { readonly ids: readonly string[]; readonly installations?: readonly InstallationName[] },
    scope: ConnectionScope,
  ): Promise<readonly Connection[]> {
    const kind = 'REPO_HOST_INSTALLATION';
    const namesWhere = { OR: [{ id: { in: [...ids] } }, ...installations.map((installation) => ({ kind, ...installation }))] };
    const rows = await this.db.prisma.connection.findMany({
      where: { AND: [scope, namesWhere] },
      select: shownColumns,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
    return rows.map(toConnection);
  }

  /** The connection with this installation id at a repository host. */
  async findInstallation(installationId: number, scope: ConnectionScope): Promise<Connection | undefined> {
    const where = { ...scope, kind: 'REPO_HOST_INSTALLATION', installationId };
    const row = await this.db.prisma.connection.findFirst({ where, select: shownColumns, orderBy: { createdAt: 'desc' } });
    return row === null ? undefined : toConnection(row);
  }

  /** The newest connection of an account that its owner has connected before. */
  async findAccount(
    scope: Required<ConnectionScope>,
    { provider, name, installationId }: Pick<Connection, 'provider' | 'name' | 'installationId'>,
  ): Promise<Connection | undefined> {
    const where = { ...scope, provider, ...(installationId === null ? { name } : { installationId }) };
    const row = await this.db.prisma.connection.findFirst({ where, select: shownColumns, orderBy: { createdAt: 'desc' } });
    return row === null ? undefined : toConnection(row);
  }

  /** The newest connection with an MCP server of that name. */
  async findMcpServer(name: string, scope: Required<ConnectionScope>): Promise<Connection | undefined> {
    const where = { ...scope, kind: 'MCP_SERVER', name };
    const row = await this.db.prisma.connection.findFirst({ where, select: shownColumns, orderBy: { createdAt: 'desc' } });
    return row === null ? undefined : toConnection(row);
  }

  /** Connections with MCP servers, by their ids, behind one of them. */
  async mcpServersAfter(after: string, scope: ConnectionScope, take: number): Promise<readonly Connection[]> {
    const where = { ...scope, kind: 'MCP_SERVER', id: { gt: after } };
    const rows = await this.db.prisma.connection.findMany({ where, select: shownColumns, orderBy: { id: 'asc' }, take });
    return rows.map(toConnection);
  }

  /** Newest first. */
  async list(scope: ConnectionScope, query: ConnectionListQuery, page: PageRequest): Promise<Page<Connection>> {
    const where = { ...scope, ...query };
    const rows = await this.db.prisma.connection.findMany({ ...newestFirst(where, page), select: shownColumns });
    return toPage(rows.map(toConnection), page, timeKey, (take) => this.db.prisma.connection.count({ where, take }));
  }

  count(scope: ConnectionScope): Promise<number> {
    return this.db.prisma.connection.count({ where: scope });
  }

  /** The sealed secrets of a connection; the vault opens them. */
  async findSealed(id: string): Promise<string | undefined> {
    const row = await this.db.prisma.connection.findUnique({ where: { id }, select: { sealed: true } });
    return row?.sealed;
  }

  async create(connection: NewConnection): Promise<Connection> {
    const data = { ...connection, scopes: [...connection.scopes], updatedAt: connection.createdAt };
    const created = await settled(this.db.prisma.connection.create({ data, select: shownColumns }), 'connection');
    this.#announce(created.id);
    return toConnection(created);
  }

  async update(id: string, { scopes, ...changes }: ConnectionChanges): Promise<Connection> {
    const reauthorization = changes.sealed === undefined ? {} : { needsReauthorization: false };
    const data = { ...changes, ...reauthorization, ...(scopes === undefined ? {} : { scopes: [...scopes] }) };
    const changed = await settled(this.db.prisma.connection.update({ where: { id }, data, select: shownColumns }), 'connection');
    this.#announce(id);
    return toConnection(changed);
  }

  /** @returns false when the connection was deleted before. */
  async delete(id: string): Promise<boolean> {
    const { count } = await this.db.prisma.connection.deleteMany({ where: { id } });
    if (count > 0) {
      this.#announce(id);
      // It proved an account of its owner no more.
      this.signals.publish('permissions-changed', id);
    }
    return count > 0;
  }

  /** Stores a renewed token. @returns undefined, and stores nothing, when another process has taken the renewal. */
  async storeRenewal(
    { id, owner: renewalOwner }: Lease,
    token: { readonly sealed: string; readonly expiresAt: Date | null },
  ): Promise<Connection | undefined> {
    const data = { ...token, needsReauthorization: false };
    const [row] = await this.db.prisma.connection.updateManyAndReturn({
      where: { id, renewalOwner },
      data,
      select: shownColumns,
    });
    if (row === undefined) return undefined;
    this.#announce(id);
    return toConnection(row);
  }

  /** Notes that the service refuses the token, unless another process has taken the renewal. */
  async requireReauthorization({ id, owner: renewalOwner }: Lease): Promise<void> {
    await this.db.prisma.connection.updateMany({ where: { id, renewalOwner }, data: { needsReauthorization: true } });
    this.#announce(id);
  }

  /** Stores what is left of the secrets when tokens were given back. Somebody has to sign in again. */
  async forgetTokens(id: string, sealed: string): Promise<void> {
    const data = { sealed, expiresAt: null, scopes: [], needsReauthorization: true };
    await this.db.prisma.connection.updateMany({ where: { id }, data });
    this.#announce(id);
  }

  /** Notes that its owner has to sign in. */
  async requireSignIn(id: string): Promise<void> {
    await this.db.prisma.connection.updateMany({ where: { id }, data: { needsReauthorization: true } });
    this.#announce(id);
  }

  #announce(id: string) {
    return this.signals.publish('connection-changed', id);
  }
}

type ConnectionRow = Omit<Connection, 'kind' | 'provider' | 'installationId'> & {
  readonly kind: string;
  readonly provider: string;
  readonly installationId: bigint | null;
};

function toConnection(row: ConnectionRow): Connection {
  return {
    ...row,
    kind: row.kind as ConnectionKind,
    provider: row.provider as ConnectionProvider,
    installationId: row.installationId === null ? null : Number(row.installationId),
  };
}
