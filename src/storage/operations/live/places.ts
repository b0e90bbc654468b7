import type { LiveKind, LivePlace } from '../../../entities/operations/live.ts';
import type { Database } from '../../ground/database.ts';
import { Store } from '../../ground/store.ts';

type Entry = readonly [id: string, place: LivePlace];

/** Where things stand: for those who decide whom a change may concern. */
export class PlaceStore extends Store {
  readonly #found: Readonly<Record<LiveKind, (id: { readonly in: string[] }) => Promise<readonly Entry[]>>>;

  constructor(db: Database) {
    super(db);
    this.#found = {
      agent: async (id) => {
        const select = { id: true, orgId: true, userId: true, listInPublicCatalog: true, listInTenantCatalog: true } as const;
        return (await db.prisma.agent.findMany({ where: { id }, select })).map(
          ({ id: agentId, orgId, userId, listInPublicCatalog, listInTenantCatalog }) => [
            agentId,
            { orgId, userId, isInOpenCatalog: listInPublicCatalog || listInTenantCatalog },
          ],
        );
      },
      dataSource: async (id) => {
        const rows = await db.prisma.dataSource.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
        return rows.map(({ id: sourceId, orgId, ownerUserId }) => [sourceId, { orgId, userId: ownerUserId }]);
      },
      chat: async (id) => {
        const select = { id: true, orgId: true, userId: true, agentId: true } as const;
        return (await db.prisma.chat.findMany({ where: { id }, select })).map(({ id: chatId, ...place }) => [chatId, place]);
      },
      run: async (id) => {
        const select = {
          ...{ id: true, orgId: true, userId: true, agentId: true },
          ...{ status: true, incompleteReason: true, isWaiting: true, startedAt: true, endedAt: true },
        } as const;
        return (await db.prisma.run.findMany({ where: { id }, select })).map(
          ({ id: runId, orgId, userId, agentId, ...shown }) => [runId, { orgId, userId, agentId, state: JSON.stringify(shown) }],
        );
      },
      memory: async (id) => {
        const rows = await db.prisma.memory.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
        return rows.map(({ id: memoryId, ...place }) => [memoryId, place]);
      },
      chatImport: async (id) => {
        const rows = await db.prisma.chatImport.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
        return rows.map(({ id: importId, ...place }) => [importId, place]);
      },
      connection: async (id) => {
        const rows = await db.prisma.connection.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
        return rows.map(({ id: connectionId, orgId, ownerUserId }) => [connectionId, { orgId, userId: ownerUserId }]);
      },
      membership: async (id) => {
        const rows = await db.prisma.membership.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
        return rows.map(({ id: membershipId, ...place }) => [membershipId, place]);
      },
      invitation: async (id) => {
        const rows = await db.prisma.invitation.findMany({
          where: { id },
          select: { id: true, orgId: true, invitedByUserId: true },
        });
        return rows.map(({ id: invitationId, orgId, invitedByUserId }) => [invitationId, { orgId, userId: invitedByUserId }]);
      },
      apiKey: async (id) => {
        const rows = await db.prisma.apiKey.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
        return rows.map(({ id: keyId, ...place }) => [keyId, place]);
      },
      group: async (id) => {
        const rows = await db.prisma.group.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
        return rows.map(({ id: groupId, orgId, ownerUserId }) => [groupId, { orgId, userId: ownerUserId }]);
      },
    };
  }

  /** Where things stand, also deleted ones whose row is kept. One statement. */
  async places(kind: LiveKind, ids: readonly string[]): Promise<ReadonlyMap<string, LivePlace>> {
    return new Map(await this.db.runForAll(() => this.#found[kind]({ in: [...ids] })));
  }

  /** The sources that are attached to agents. */
  async sourcesOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, LivePlace>> {
    const links = await this.db.runForAll(async () =>
      this.db.prisma.agentDataSource.findMany({
        where: { agentId: { in: [...agentIds] } },
        select: { dataSource: { select: { id: true, orgId: true, ownerUserId: true } } },
      }),
    );
    return new Map(links.map(({ dataSource: { id, orgId, ownerUserId } }) => [id, { orgId, userId: ownerUserId }] as const));
  }
}
