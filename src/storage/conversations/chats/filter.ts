import type { ChatFilter, ChatLeaf } from '../../../entities/people/access.ts';
import { agentCondition } from '../../agents/conditions.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import { toCondition, toWhere, type WhereTree } from '../../ground/lists/where.ts';
import type { Parameters } from '../../ground/sql/where.ts';

/** A rule about chats as Prisma's `where`. A chat that is visible to editors is in the organization of its agent. */
export function chatWhere(filter: ChatFilter): WhereTree<Prisma.ChatWhereInput> {
  return toWhere<ChatLeaf, Prisma.ChatWhereInput>(filter, (leaf) => {
    if (leaf.chat === 'owned-by') return { userId: leaf.userId, orgId: leaf.orgId };
    const agent = { AND: [{ chatLogsVisible: true, isDeleted: false }, agentWhere(leaf.agent)] };
    return { isVisibleToEditors: true, agent };
  });
}

/** The same as a condition of the table "chats" in SQL. */
export function chatCondition(filter: ChatFilter, parameters: Parameters): string {
  return toCondition(filter, (leaf) => {
    if (leaf.chat === 'owned-by')
      return `(chats."userId" = ${parameters.add(leaf.userId)} and chats."orgId" = ${parameters.add(leaf.orgId)})`;
    return `(chats."isVisibleToEditors" and exists (select from agents where agents.id = chats."agentId" and "chatLogsVisible" and not "isDeleted"
      and ${agentCondition(leaf.agent, parameters)}))`;
  });
}
