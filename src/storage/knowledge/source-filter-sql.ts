import type { DataSourceFilter, DataSourceLeaf } from '../../entities/accounts/access.ts';
import { agentCondition } from '../agents/filter-sql.ts';
import { conditionOf, type Parameters } from '../database/sql/where.ts';

/** A rule about data sources as a condition on the table `data_sources` under the name `s`. */
export function dataSourceCondition(filter: DataSourceFilter, parameters: Parameters): string {
  return conditionOf<DataSourceLeaf>(filter, (leaf) => {
    switch (leaf.dataSource) {
      case 'in-organization':
        return `s."orgId" = ${parameters.add(leaf.orgId)}`;
      case 'owned-by':
        return `s."ownerUserId" = ${parameters.add(leaf.userId)}`;
      case 'organization-visible':
        return 's."orgVisible"';
      case 'cited':
        return 's.cite';
      case 'attached-to':
        return `exists (select 1 from agent_data_sources x join agents a on a.id = x."agentId"
          where x."dataSourceId" = s.id and not a."isDeleted" and ${agentCondition(leaf.agent, parameters)})`;
    }
  });
}
