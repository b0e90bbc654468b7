// Raw SQL: a caller's rule is one SQL condition wherever groups are read, and the groups of many agents take one statement.
import type { GroupFilter } from '../../entities/accounts/access.ts';
import type { Group, GroupMember } from '../../entities/accounts/group.ts';
import type { Database } from '../database/database.ts';
import { readWhole } from '../database/sql/bounded-rows.ts';
import { byOwner, type Linked, linksSql } from '../database/sql/links.ts';
import { selectRows } from '../database/sql/where.ts';
import { groupCondition } from './group-filter.ts';

const agentGroups = { table: 'agent_groups', owner: 'agentId', thing: 'groupId', order: 'x."createdAt", x."groupId"' };

export function createGroupQueries(db: Database) {
  const findMany = (ids: readonly string[], filter: GroupFilter) =>
    selectRows<Group>(
      db,
      (given) => `select g.* from groups g where g.id = any(${given.add(ids)}::text[]) and ${groupCondition(filter, given)}`,
    );
  return {
    findMany,
    find: async (id: string, filter: GroupFilter) => (await findMany([id], filter))[0],
    list: (filter: GroupFilter, limit: number) =>
      selectRows<Group>(
        db,
        (given) => `select g.* from groups g where ${groupCondition(filter, given)}
          order by g."createdAt" desc, g.id desc limit ${given.add(limit)}`,
      ),
    async ofAgents(agentIds: readonly string[], filter: GroupFilter) {
      const rows = await selectRows<Group & Linked>(
        db,
        (given) => `select g.*, given.links from ${linksSql(agentGroups, given.add(agentIds))} given
          join groups g on g.id = given.id where ${groupCondition(filter, given)}`,
      );
      return byOwner(rows, ({ links: _links, ...group }): Group => group);
    },
    membersOf(groupIds: readonly string[]) {
      const text = 'select * from group_members where "groupId" = any($1::text[]) order by "createdAt", email';
      return readWhole<GroupMember>(db, { text, values: [groupIds] }, ['email']);
    },
  };
}
