import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import type { McpOauthClient } from '../../../entities/knowledge/mcp-oauth-client.ts';
import { newestFirst } from '../../ground/lists/paging.ts';
import { Store } from '../../ground/store.ts';

/** The place that the secret of a client is sealed for. */
export function mcpOauthClientPlace({ id, orgId }: Pick<McpOauthClient, 'id' | 'orgId'>) {
  return { orgId, table: 'mcp_oauth_clients', rowId: id };
}

/** A client with its secret, which is empty where it has none. `sealed` is sealed for `mcpOauthClientPlace`. */
export type SealedMcpOauthClient = McpOauthClient & { readonly sealed: string };

/** Everything except the sealed secret: no list can return it by mistake. */
const shownColumns = {
  ...{ id: true, createdAt: true, updatedAt: true, orgId: true },
  ...{ url: true, issuer: true, clientId: true, hasSecret: true, scopes: true },
} as const;

/** Clients that organizations registered at the authorization servers of MCP servers. */
export class McpOauthClientStore extends Store {
  /** Newest first. */
  async list(orgId: string, page: PageRequest): Promise<Page<McpOauthClient>> {
    const rows = await this.db.prisma.mcpOauthClient.findMany({ ...newestFirst({ orgId }, page), select: shownColumns });
    return toPage(rows, page, timeKey, (take) => this.db.prisma.mcpOauthClient.count({ where: { orgId }, take }));
  }

  findMany(ids: readonly string[], orgId: string): Promise<readonly McpOauthClient[]> {
    return this.db.prisma.mcpOauthClient.findMany({ where: { orgId, id: { in: [...ids] } }, select: shownColumns });
  }

  /** @param by  its id, or the address of its MCP server. */
  async findSealed(
    orgId: string,
    by: { readonly id: string } | { readonly url: string },
  ): Promise<SealedMcpOauthClient | undefined> {
    return (await this.db.prisma.mcpOauthClient.findFirst({ where: { ...by, orgId } })) ?? undefined;
  }

  count(orgId: string): Promise<number> {
    return this.db.prisma.mcpOauthClient.count({ where: { orgId } });
  }

  /** Adds the client, or replaces that of its MCP server. */
  set({ id, createdAt, orgId, url, ...changes }: Omit<SealedMcpOauthClient, 'updatedAt'>): Promise<McpOauthClient> {
    const update = { ...changes, scopes: [...changes.scopes] };
    return this.db.prisma.mcpOauthClient.upsert({
      where: { orgId_url: { orgId, url } },
      create: { id, createdAt, orgId, url, ...update },
      update,
      select: shownColumns,
    });
  }

  async delete(id: string, orgId: string): Promise<boolean> {
    return (await this.db.prisma.mcpOauthClient.deleteMany({ where: { id, orgId } })).count > 0;
  }
}
