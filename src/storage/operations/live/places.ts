import type { LiveKind, LivePlace } from '../../../entities/operations/live.ts';
import type { Database } from '../../ground/database.ts';

/** Where things stand: for those who decide whom a change may concern. */
export interface PlaceStore {
  /** Where things stand, also deleted ones whose row is kept. One statement. */
  places(kind: LiveKind, ids: readonly string[]): Promise<ReadonlyMap<string, LivePlace>>;
  /** The sources that are attached to agents. */
  sourcesOf(agentIds: readonly string[]): Promise<ReadonlyMap<string, LivePlace>>;
}

type Entry = readonly [id: string, place: LivePlace];

export function createPlaceStore(db: Database): PlaceStore {
  const { prisma } = db;
  const found: Readonly<Record<LiveKind, (id: { readonly in: string[] }) => Promise<readonly Entry[]>>> = {
    agent: async (id) => {
      const select = { id: true, orgId: true, userId: true, listInPublicCatalog: true, listInTenantCatalog: true } as const;
      return (await prisma.agent.findMany({ where: { id }, select })).map(
        ({ id: agentId, orgId, userId, listInPublicCatalog, listInTenantCatalog }) => [
          agentId,
          { orgId, userId, isInOpenCatalog: listInPublicCatalog || listInTenantCatalog },
        ],
      );
    },
    dataSource: async (id) => {
      const rows = await prisma.dataSource.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
      return rows.map(({ id: sourceId, orgId, ownerUserId }) => [sourceId, { orgId, userId: ownerUserId }]);
    },
    chat: async (id) => {
      const select = { id: true, orgId: true, userId: true, agentId: true } as const;
      return (await prisma.chat.findMany({ where: { id }, select })).map(({ id: chatId, ...place }) => [chatId, place]);
    },
    run: async (id) => {
      const select = {
        ...{ id: true, orgId: true, userId: true, agentId: true },
        ...{ status: true, incompleteReason: true, isWaiting: true, startedAt: true, endedAt: true },
      } as const;
      return (await prisma.run.findMany({ where: { id }, select })).map(({ id: runId, orgId, userId, agentId, ...shown }) => [
        runId,
        { orgId, userId, agentId, state: JSON.stringify(shown) },
      ]);
    },
    memory: async (id) => {
      const rows = await prisma.memory.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
      return rows.map(({ id: memoryId, ...place }) => [memoryId, place]);
    },
    connection: async (id) => {
      const rows = await prisma.connection.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
      return rows.map(({ id: connectionId, orgId, ownerUserId }) => [connectionId, { orgId, userId: ownerUserId }]);
    },
    membership: async (id) => {
      const rows = await prisma.membership.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
      return rows.map(({ id: membershipId, ...place }) => [membershipId, place]);
    },
    invitation: async (id) => {
      const rows = await prisma.invitation.findMany({ where: { id }, select: { id: true, orgId: true, invitedByUserId: true } });
      return rows.map(({ id: invitationId, orgId, invitedByUserId }) => [invitationId, { orgId, userId: invitedByUserId }]);
    },
    apiKey: async (id) => {
      const rows = await prisma.apiKey.findMany({ where: { id }, select: { id: true, orgId: true, userId: true } });
      return rows.map(({ id: keyId, ...place }) => [keyId, place]);
    },
    group: async (id) => {
      const rows = await prisma.group.findMany({ where: { id }, select: { id: true, orgId: true, ownerUserId: true } });
      return rows.map(({ id: groupId, orgId, ownerUserId }) => [groupId, { orgId, userId: ownerUserId }]);
    },
  };
  return {
    places: async (kind, ids) => new Map(await db.runForAll(() => found[kind]({ in: [...ids] }))),
    async sourcesOf(agentIds) {
      const links = await db.runForAll(async () =>
        prisma.agentDataSource.findMany({
          where: { agentId: { in: [...agentIds] } },
          select: { dataSource: { select: { id: true, orgId: true, ownerUserId: true } } },
        }),
      );
      return new Map(links.map(({ dataSource: { id, orgId, ownerUserId } }) => [id, { orgId, userId: ownerUserId }] as const));
    },
  };
}
