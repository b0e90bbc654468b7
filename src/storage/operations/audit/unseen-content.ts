// Raw SQL: what a rule does not hold for, unknown included, which Prisma's NOT leaves out.
import type { AgentFilter, ChatFilter, DataSourceFilter } from '../../../entities/people/access.ts';
import { agentCondition } from '../../agents/conditions.ts';
import { chatWhere } from '../../conversations/chats/filter.ts';
import { Parameters } from '../../ground/sql/where.ts';
import { Store } from '../../ground/store.ts';
import { dataSourceWhere } from '../../knowledge/sources/filter.ts';

/** A thing and the organization it belongs to. */
export interface PlacedThing {
  readonly id: string;
  readonly orgId: string;
}

/** Finds the things shown to a caller that do not match a rule. Deleted things are left out. */
export class UnseenContent extends Store {
  readonly #select = { id: true, orgId: true } as const;

  agents(ids: readonly string[], visible: AgentFilter): Promise<readonly PlacedThing[]> {
    const parameters = new Parameters();
    const isAmong = `id = any(${parameters.add(ids)}::text[])`;
    // A rule about a member that is null is unknown, which is not true.
    const text = `select id, "orgId" from agents where ${isAmong} and (${agentCondition(visible, parameters)}) is not true`;
    return this.db.query<PlacedThing>(text, parameters.values);
  }

  dataSources(ids: readonly string[], visible: DataSourceFilter): Promise<readonly PlacedThing[]> {
    return unseen(ids, dataSourceWhere(visible), (where) => this.db.prisma.dataSource.findMany({ where, select: this.#select }));
  }

  chats(ids: readonly string[], visible: ChatFilter): Promise<readonly PlacedThing[]> {
    return unseen(ids, chatWhere(visible), (where) => this.db.prisma.chat.findMany({ where, select: this.#select }));
  }
}

/** Cost: two statements; the second one applies the rule as the queries that read the kind. */
async function unseen<Where>(
  ids: readonly string[],
  visible: Where,
  find: (where: { AND: ({ id: { in: string[] } } | Where)[] }) => PromiseLike<readonly PlacedThing[]>,
): Promise<readonly PlacedThing[]> {
  const idFilter = { id: { in: [...ids] } };
  const all = await find({ AND: [idFilter] });
  const seenIds = new Set((await find({ AND: [idFilter, visible] })).map(({ id }) => id));
  return all.filter(({ id }) => !seenIds.has(id));
}
