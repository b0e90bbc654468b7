import type { AgentFilter, ChatFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { agentWhere } from '../../agents/filter.ts';
import { chatWhere } from '../../conversations/chats/filter.ts';
import type { Database } from '../../ground/database.ts';
import { dataSourceWhere } from '../../knowledge/sources/filter.ts';

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

export function createUnseenContent({ prisma }: Database): UnseenContent {
  const select = { id: true, orgId: true } as const;
  return {
    agents: (ids, visible) => unseen(ids, agentWhere(visible), (where) => prisma.agent.findMany({ where, select })),
    dataSources: (ids, visible) =>
      unseen(ids, dataSourceWhere(visible), (where) => prisma.dataSource.findMany({ where, select })),
    chats: (ids, visible) => unseen(ids, chatWhere(visible), (where) => prisma.chat.findMany({ where, select })),
  };
}

/** Cost: two statements; the second one applies the rule as the queries that read the kind. */
async function unseen<Where>(
  ids: readonly string[],
  visible: Where,
  find: (where: { AND: ({ id: { in: string[] } } | Where)[] }) => PromiseLike<readonly PlacedThing[]>,
): Promise<readonly PlacedThing[]> {
  const named = { id: { in: [...ids] } };
  const all = await find({ AND: [named] });
  const seen = new Set((await find({ AND: [named, visible] })).map(({ id }) => id));
  return all.filter(({ id }) => !seen.has(id));
}
