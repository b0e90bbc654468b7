import type { ChatFilter, ChatLeaf } from '../../entities/accounts/access.ts';
import { agentCondition } from '../agents/filter-sql.ts';
import { conditionOf, type Parameters } from '../database/sql/where.ts';

/** A rule about chats as a condition on the table `chats` under the name `c`, joined with its agent under the name `a`. */
export function chatCondition(filter: ChatFilter, parameters: Parameters): string {
  return conditionOf<ChatLeaf>(filter, (leaf) => {
    if (leaf.chat === 'owned-by')
      return `(c."userId" = ${parameters.add(leaf.userId)} and c."orgId" = ${parameters.add(leaf.orgId)})`;
    return `(c."isVisibleToEditors" and c."orgId" = a."orgId" and a."chatLogsVisible" and not a."isDeleted" and ${agentCondition(leaf.agent, parameters)})`;
  });
}
