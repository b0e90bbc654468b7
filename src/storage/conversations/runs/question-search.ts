// Raw SQL: a list of any length in one value, which Prisma writes as a value for each member, and a statement takes 32,767.

import type { Database } from '../../ground/database.ts';
import { searchMessages } from '../chats/message-search.ts';

/** How far a search for words looks. */
const searchedChatsMax = 200;
const searchedSlicesMax = 100;

/**
 * Runs whose question contains a text, in the newest chats of a user and of agents that show theirs; at most `runsMax`. `all`: the agents of the
 * organization. Cost: two statements, and one for each thousand messages of these chats.
 */
export async function findByQuestion(
  db: Database,
  text: string,
  owner: { readonly userId: string; readonly orgId: string },
  agentIds: readonly string[] | 'all',
  runsMax: number,
): Promise<readonly string[]> {
  const { userId, orgId } = owner;
  const [own, shownRuns] = await Promise.all([
    db.prisma.chat.findMany({
      where: { userId, orgId, deletedAt: null },
      orderBy: [{ updatedAt: 'desc' }, { id: 'desc' }],
      take: searchedChatsMax,
      select: { id: true },
    }),
    findShownChats(db, orgId, agentIds),
  ]);
  const chatIds = [...new Set([...own, ...shownRuns].map(({ id }) => id))];
  const runIds = new Set<string>();
  let slices = 0;
  for await (const { found: matches } of searchMessages(db, { chatIds, words: [text], among: 'questions' })) {
    for (const { runId } of matches) if (runId !== null) runIds.add(runId);
    slices += 1;
    if (runIds.size >= runsMax || slices >= searchedSlicesMax) break;
  }
  return [...runIds].slice(0, runsMax);
}

async function findShownChats(
  db: Database,
  orgId: string,
  agentIds: readonly string[] | 'all',
): Promise<readonly { readonly id: string }[]> {
  if (agentIds.length === 0) return [];
  const isAmong = agentIds === 'all' ? 'agent."orgId" = $1 and not agent."isDeleted"' : 'chat."agentId" = any($3::text[])';
  return db.queryPlanned<{ readonly id: string }>(
    `select chat.id from chats chat join agents agent on agent.id = chat."agentId" and agent."chatLogsVisible"
     where chat."orgId" = $1 and chat."deletedAt" is null and chat."isVisibleToEditors" and ${isAmong}
     order by chat."updatedAt" desc, chat.id desc limit $2`,
    [orgId, searchedChatsMax, ...(agentIds === 'all' ? [] : [agentIds])],
  );
}
