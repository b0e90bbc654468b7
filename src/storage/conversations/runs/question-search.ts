import type { Database } from '../../ground/database.ts';
import { searchMessages } from '../chats/message-search.ts';

/** How far a search for words looks. */
const searchedChatsMax = 200;
const searchedSlicesMax = 100;

/**
 * Runs whose question contains a text, in the newest chats of a user and of agents that show theirs; at most `runsMax`. `all`: the agents of the
 * organization, which are not named one by one, because a statement takes 32,767 values at most. Cost: two statements, and one for
 * each thousand messages of these chats.
 */
export async function findByQuestion(
  db: Database,
  text: string,
  { userId, orgId }: { readonly userId: string; readonly orgId: string },
  agentIds: readonly string[] | 'all',
  runsMax: number,
): Promise<readonly string[]> {
  const { chat } = db.prisma;
  const newest = {
    orderBy: [{ updatedAt: 'desc' as const }, { id: 'desc' as const }],
    take: searchedChatsMax,
    select: { id: true },
  };
  const [own, shownRuns] = await Promise.all([
    chat.findMany({ where: { userId, orgId, deletedAt: null }, ...newest }),
    agentIds.length === 0
      ? []
      : chat.findMany({
          where: {
            ...(agentIds === 'all' ? {} : { agentId: { in: [...agentIds] } }),
            orgId,
            deletedAt: null,
            isVisibleToEditors: true,
            agent: { chatLogsVisible: true, ...(agentIds === 'all' ? { orgId, isDeleted: false } : {}) },
          },
          ...newest,
        }),
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
