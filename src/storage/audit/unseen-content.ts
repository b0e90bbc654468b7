// Raw SQL: one statement for each kind of thing, with the same conditions as the queries that read the kind.
import type { AgentFilter, ChatFilter, DataSourceFilter } from '../../entities/accounts/access.ts';
import { agentCondition } from '../agents/filter-sql.ts';
import { chatCondition } from '../chats/filter-sql.ts';
import type { Database } from '../database/database.ts';
import { type Parameters, selectRows } from '../database/sql/where.ts';
import { dataSourceCondition } from '../knowledge/source-filter-sql.ts';

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

export function createUnseenContent(db: Database): UnseenContent {
  const found = (write: (given: Parameters) => string) => selectRows<PlacedThing>(db, write);
  return {
    agents: (ids, visible) =>
      found(
        (given) => `select a.id, a."orgId" from agents a
          where a.id = any(${given.add(ids)}::text[]) and (${agentCondition(visible, given)}) is not true`,
      ),
    dataSources: (ids, visible) =>
      found(
        (given) => `select s.id, s."orgId" from data_sources s
          where s.id = any(${given.add(ids)}::text[]) and (${dataSourceCondition(visible, given)}) is not true`,
      ),
    chats: (ids, visible) =>
      found(
        (given) => `select c.id, c."orgId" from chats c left join agents a on a.id = c."agentId"
          where c.id = any(${given.add(ids)}::text[]) and (${chatCondition(visible, given)}) is not true`,
      ),
  };
}
