import type { ChatFilter, ChatLeaf } from '../../../entities/people/access.ts';
import { agentWhere } from '../../agents/filter.ts';
import type { Prisma } from '../../generated/client.ts';
import { toWhere, type WhereTree } from '../../ground/lists/where.ts';

/** A rule about chats as Prisma's `where`. A chat that is visible to editors is in the organization of its agent. */
export function chatWhere(filter: ChatFilter): WhereTree<Prisma.ChatWhereInput> {
  return toWhere<ChatLeaf, Prisma.ChatWhereInput>(filter, (leaf) => {
    if (leaf.chat === 'owned-by') return { userId: leaf.userId, orgId: leaf.orgId };
    const agent = { AND: [{ chatLogsVisible: true, isDeleted: false }, agentWhere(leaf.agent)] };
    return { isVisibleToEditors: true, agent };
  });
}
