import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import type { ArchiveChoice } from '../../../entities/conversations/chats/place.ts';
import { countUnlessWhole, endingAt, type Page, type PageRequest, type SortKey, toPage } from '../../../entities/ground/page.ts';
import type { ChatFilter } from '../../../entities/people/access.ts';
import type { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { byTime, readPage } from '../../ground/lists/paging.ts';
import { chatWhere } from './filter.ts';
import { type ChatSearch, countFoundChats, searchChats } from './search.ts';

export interface ChatQuery {
  readonly userId: string;
  readonly orgId: string;
  readonly agentId?: string;
  /** Adds the chats of this organization that editors of the agent may read; not with `search`. */
  readonly shownIn?: string;
  /** Text that the name, or a message that people may read, contains. */
  readonly search?: string;
  /** Only chats that are pinned; false: only others. */
  readonly isPinned?: boolean;
  readonly archive: ArchiveChoice;
  /** Only chats with this tag. */
  readonly tag?: string;
  /** Only chats in this project. */
  readonly projectId?: string;
}

const columns = {
  ...{ id: true, createdAt: true, updatedAt: true, orgId: true, userId: true, agentId: true, name: true, pinPosition: true },
  ...{ archivedAt: true, tags: true, projectId: true },
  ...{ activeRunId: true, comparedMessageId: true, answeredAt: true, modelId: true, userInputs: true, isVisibleToEditors: true },
  agent: { select: { id: true, name: true, src: true, description: true, userId: true, seed: true } },
} as const satisfies Prisma.ChatSelect;

export function findChats(db: Database, ids: readonly string[], filter: ChatFilter): Promise<readonly Chat[]> {
  return readChats(db, { AND: [{ id: { in: [...ids] }, deletedAt: null }, chatWhere(filter)] });
}

export async function listChats(db: Database, query: ChatQuery, page: PageRequest): Promise<Page<Chat>> {
  const { search } = query;
  if (search !== undefined) return listFoundChats(db, { ...query, search }, page);
  const where = listWhere(query);
  const chatRows = await db.prisma.chat.findMany({ ...byTime('updatedAt', 'desc', where, page), select: sizes });
  const { rows, foundCount } = await readPage(db, chatRows.map(toPlace), (ids) => readChats(db, { id: { in: ids } }));
  const count = (take: number) => db.prisma.chat.count({ where, take, orderBy: { updatedAt: 'desc' } });
  return toPage(rows, page, activityKey, countUnlessWhole(page, foundCount, count), foundCount);
}

/** Chats of the caller whose name, or a message that people may read, contains a text. */
async function listFoundChats(db: Database, search: ChatSearch, page: PageRequest): Promise<Page<Chat>> {
  const { ids, end } = await searchChats(db, search, page);
  const chatRows = ids.length === 0 ? [] : await db.prisma.chat.findMany({ where: { id: { in: [...ids] } }, select: sizes });
  const byId = new Map(chatRows.map((chat) => [chat.id, toPlace(chat)]));
  const places = ids.map((id) => byId.get(id) ?? { id });
  const { rows, foundCount } = await readPage(db, places, (shownIds) => readChats(db, { id: { in: shownIds } }));
  const chatPage = toPage(rows, page, activityKey, (most) => countFoundChats(db, search, most), foundCount);
  return rows.length < places.length ? chatPage : endingAt(chatPage, page, end);
}

const sizes = { id: true, rowBytes: true, agent: { select: { rowBytes: true } } } as const satisfies Prisma.ChatSelect;

function toPlace({
  id,
  rowBytes,
  agent,
}: {
  readonly id: string;
  readonly rowBytes: number;
  readonly agent: { readonly rowBytes: number } | null;
}) {
  return { id, rowBytes: rowBytes + (agent?.rowBytes ?? 0) };
}

/** Cost: one statement. */
async function readChats({ prisma }: Database, where: Prisma.ChatWhereInput): Promise<readonly Chat[]> {
  const rows = await prisma.chat.findMany({ where, select: columns });
  return rows.map(({ agent, ...chat }) => {
    const model = chat.modelId ?? '';
    const shownAgent = agent ?? { id: model, name: model, src: '', description: '', userId: '', seed: '' };
    return { ...chat, userInputs: chat.userInputs as Chat['userInputs'], agent: { ...shownAgent, seed: shownAgent.seed ?? '' } };
  });
}

/** The names of the users among `ids` that are not deleted. */
export async function findUserNames({ prisma }: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const users = await prisma.user.findMany({ where: { id: { in: [...ids] } }, select: { id: true, name: true } });
  return new Map(users.map(({ id, name }) => [id, name]));
}

function listWhere({ userId, orgId, agentId, shownIn, isPinned, archive, tag, projectId }: ChatQuery): Prisma.ChatWhereInput {
  const narrowed = { ...(tag === undefined ? {} : { tags: { has: tag } }), ...(projectId === undefined ? {} : { projectId }) };
  const own = { userId, orgId, ...archiveWhere[archive], ...narrowed };
  // Tags, projects and the archive of others are theirs.
  const shown = { isVisibleToEditors: true, orgId: shownIn ?? '', userId: { not: userId } };
  const readable = shownIn === undefined || Object.keys(narrowed).length > 0 || archive === 'only' ? [own] : [own, shown];
  return {
    deletedAt: null,
    AND: [
      { OR: readable },
      agentId === undefined ? {} : { agentId },
      isPinned === undefined ? {} : { pinPosition: isPinned ? { not: null } : null },
    ],
  };
}

const archiveWhere: Readonly<Record<ArchiveChoice, Prisma.ChatWhereInput>> = {
  without: { archivedAt: null },
  only: { archivedAt: { not: null } },
  with: {},
};

function activityKey({ updatedAt, id }: Chat): SortKey {
  return [updatedAt.toISOString(), id];
}
