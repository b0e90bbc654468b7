import type { AgentFilter, ChatFilter, DataSourceFilter } from '../../entities/accounts/access.ts';
import { agentWhere } from '../agents/filter.ts';
import { chatWhere } from '../chats/filter.ts';
import type { Database } from '../database/database.ts';
import { dataSourceWhere } from '../knowledge/source-filter.ts';

/** A thing and the organization it belongs to. */
export interface PlacedThing {
  readonly id: string;
  readonly orgId: string;
}

/** Finds the things shown to a caller that do not match a rule. Deleted things are left out. */
export interface UnseenContent {
  agents(ids: readonly string[], visible: AgentFilter): Promise<readonly PlacedThing[]>;
  dataSources(ids: readonly string[], visible: DataSourceFilter): Promise<readonly PlacedThing[]>;
  chats(ids: readonly string[], visible: ChatFilter): Promise<readonly PlacedThing[]>;
}

/** Cost: two statements each; the second one applies the rule as the queries that read the kind. */
export function createUnseenContent(db: Database): UnseenContent {
  const select = { id: true, orgId: true } as const;
  return {
    async agents(ids, visible) {
      const { agent } = db.prisma;
      const all = { id: { in: [...ids] } };
      return except(
        await agent.findMany({ where: all, select }),
        await agent.findMany({ where: { AND: [all, agentWhere(visible)] }, select }),
      );
    },
    async dataSources(ids, visible) {
      const { dataSource } = db.prisma;
      const all = { id: { in: [...ids] } };
      return except(
        await dataSource.findMany({ where: all, select }),
        await dataSource.findMany({ where: { AND: [all, dataSourceWhere(visible)] }, select }),
      );
    },
    async chats(ids, visible) {
      const { chat } = db.prisma;
      const all = { id: { in: [...ids] } };
      return except(
        await chat.findMany({ where: all, select }),
        await chat.findMany({ where: { AND: [all, chatWhere(visible)] }, select }),
      );
    },
  };
}

function except(all: readonly PlacedThing[], visible: readonly PlacedThing[]): readonly PlacedThing[] {
  const seen = new Set(visible.map(({ id }) => id));
  return all.filter(({ id }) => !seen.has(id));
}
