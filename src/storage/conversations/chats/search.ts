// Raw SQL: ranking. A slice of a search reads a bounded number of messages, whichever chats they are in.
import type { ArchiveChoice } from '../../../entities/conversations/chats/place.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { PageRequest, SortKey } from '../../../entities/ground/page.ts';
import type { Sql } from '../../ground/database.ts';
import { readingOrder } from '../../ground/lists/paging.ts';
import { literal } from '../../ground/lists/where.ts';
import { Parameters } from '../../ground/sql/where.ts';

/** Whose chats are searched, and for what. */
export interface ChatSearch {
  readonly userId: string;
  readonly orgId: string;
  readonly agentId?: string;
  /** Text that the name, or a message that people may read, contains; in any case. */
  readonly search: string;
  readonly isPinned?: boolean;
  readonly archive: ArchiveChoice;
  readonly tag?: string;
  readonly projectId?: string;
}

/**
 * What one statement searches at most: messages, chats, and bytes of messages (one message more than that is searched whole). The embedded database has one
 * session: a statement of one person holds up those of all others, and cannot be ended. This takes some 30 ms there.
 */
export const sliceMessagesMax = 1_000;
const sliceChatsMax = 300;
const sliceBytesMax = 1_000_000;
/** A page that is not full after so many statements ends there, and its cursor leads on. */
const slicesOfPageMax = 100;
const slicesOfCountMax = 500;

/** What was found for one page. */
export interface FoundChats {
  /** At most one more than the page has, in the order of reading. */
  readonly ids: readonly string[];
  /** The last chat that was searched; undefined when the page is full, or no chats are left. */
  readonly end: SortKey | undefined;
}

/** Chats that match from a place of the list on, the last changed first. Cost: one statement for each thousand messages, about a hundred at most. */
export async function searchChats(db: Sql, search: ChatSearch, page: PageRequest): Promise<FoundChats> {
  const direction = readingOrder('desc', page);
  const foundIds = new Set<string>();
  let end: SortKey | undefined;
  let place = toPlace(page, direction);
  for (let slices = 1; ; slices += 1) {
    const { ids, finished: lastSearchedKey, next } = await readSlice(db, search, place, direction);
    for (const id of ids) foundIds.add(id);
    if (foundIds.size > page.limit || next === undefined) return { ids: [...foundIds].slice(0, page.limit + 1), end: undefined };
    end = lastSearchedKey ?? end;
    // A chat that is longer than all that is read to its end: a cursor cannot name a place in it.
    if (slices >= slicesOfPageMax && end !== undefined) return { ids: [...foundIds], end };
    place = next;
  }
}

/** Counts the chats that match, at most to `most`. @throws DomainError OVERLOADED when that takes more than 500 statements. */
export async function countFoundChats(db: Sql, search: ChatSearch, most: number): Promise<number> {
  const foundIds = new Set<string>();
  let place = toPlace({}, 'desc');
  for (let slices = 0; slices < slicesOfCountMax; slices += 1) {
    const { ids, next } = await readSlice(db, search, place, 'desc');
    for (const id of ids) foundIds.add(id);
    if (foundIds.size >= most || next === undefined) return Math.min(foundIds.size, most);
    place = next;
  }
  throw new DomainError('OVERLOADED', 'There are too many messages to count the chats in which this occurs; leave the count out');
}

/** Where a search goes on: behind a chat, or in it behind one of its messages. */
interface Place {
  readonly updatedAt: string;
  readonly id: string;
  /** Null: behind the chat. */
  readonly ordinal: number | null;
}

interface Slice {
  /** Chats that match, in the order of reading. */
  readonly ids: readonly string[];
  /** The last chat of which all messages were searched. */
  readonly finished: SortKey | undefined;
  /** Undefined: no chats are left. */
  readonly next: Place | undefined;
}

interface SearchedChat {
  readonly id: string;
  readonly updatedAt: Date;
  /** Of the last message that was searched; null: there was none. */
  readonly ordinal: number | null;
  /** Of the first message behind the range that was read. */
  readonly nextOrdinal: number | null;
  readonly isMatch: boolean;
  readonly readCount: number;
  readonly searchedCount: number;
}

async function readSlice(db: Sql, search: ChatSearch, place: Place, direction: 'asc' | 'desc'): Promise<Slice> {
  const parameters = new Parameters();
  const chats = await db.queryPlanned<SearchedChat>(toSliceSql(parameters, search, place, direction), parameters.values);
  const final = chats.at(-1);
  if (final === undefined) return { ids: [], finished: undefined, next: undefined };
  const { readCount, searchedCount } = final;
  const isCut = chats.length >= sliceChatsMax || readCount >= sliceMessagesMax || searchedCount < readCount;
  // The rest of a chat that matches is not searched. Chats behind one that goes on are read again.
  const open = chats.findIndex(({ isMatch, nextOrdinal }) => !isMatch && nextOrdinal !== null);
  const read = open === -1 ? chats : chats.slice(0, open + 1);
  const last = read.at(-1) ?? final;
  const ids = read.flatMap(({ id, isMatch }) => (isMatch ? [id] : []));
  const ordinal = last.isMatch ? null : isCut && last === final ? last.ordinal : last.nextOrdinal && last.nextOrdinal - 1;
  const next = isCut || open !== -1 ? { updatedAt: last.updatedAt.toISOString(), id: last.id, ordinal } : undefined;
  const lastSearchedChat = ordinal === null ? last : read.at(-2);
  return { ids, finished: lastSearchedChat && [lastSearchedChat.updatedAt.toISOString(), lastSearchedChat.id], next };
}

/** The beginning of the list, or behind the cursor of a page. */
function toPlace({ after }: Partial<Pick<PageRequest, 'after'>>, direction: 'asc' | 'desc'): Place {
  const [updatedAt, id] = after ?? [];
  const isFirst = typeof updatedAt !== 'string' || typeof id !== 'string';
  if (isFirst) return { updatedAt: direction === 'desc' ? 'infinity' : '-infinity', id: '', ordinal: null };
  return { updatedAt, id, ordinal: null };
}

/**
 * Each row is a message, or a chat without further ones. The order is that of the index of chats and of that of their messages: rows behind the slice are
 * not read. Of each chat, a range of ordinals is read: a limit alone would let the planner sort all messages of a chat, because it expects few. `offset 0` keeps it from
 * joining the chats with the whole table.
 */
function toSliceSql(parameters: Parameters, search: ChatSearch, place: Place, direction: 'asc' | 'desc'): string {
  const { userId, orgId, agentId, isPinned, archive, tag, projectId } = search;
  const pattern = `${parameters.add(`%${literal(search.search)}%`)}::text`;
  const [updatedAt, id, ordinal] = [
    parameters.add(place.updatedAt),
    parameters.add(place.id),
    parameters.add(place.ordinal ?? -1),
  ];
  const conditions = [
    ...(agentId === undefined ? [] : [`"agentId" = ${parameters.add(agentId)}`]),
    ...(isPinned === undefined ? [] : [`"pinPosition" is ${isPinned ? 'not null' : 'null'}`]),
    ...(archive === 'with' ? [] : [`"archivedAt" is ${archive === 'only' ? 'not null' : 'null'}`]),
    ...(tag === undefined ? [] : [`tags @> array[${parameters.add(tag)}::text]`]),
    ...(projectId === undefined ? [] : [`"projectId" = ${parameters.add(projectId)}`]),
    ...(place.ordinal === null ? [`id <> ${id}`] : []),
  ];
  const behind = (chatId: string) => `(case when ${chatId} = ${id} then ${ordinal}::int else -1 end)`;
  const order = `"updatedAt" ${direction}, id ${direction}`;
  return `
    with read as (
      select found.*, row_number() over place as number, sum("rowBytes") over place as bytes, count(*) over () as "readCount"
      from (
        select chat.id, chat."updatedAt", chat.name, message.ordinal, message."rowBytes", message.content, message."isShown"
        from (
          select id, "updatedAt", name from chats
          where "userId" = ${parameters.add(userId)} and "orgId" = ${parameters.add(orgId)} and "deletedAt" is null
            and ("updatedAt", id) ${direction === 'desc' ? '<=' : '>='} (${updatedAt}::timestamptz, ${id}::text)
            ${conditions.map((condition) => `and ${condition}`).join(' ')}
          order by ${order} limit ${sliceChatsMax}) chat
        left join lateral (
          select ordinal, "rowBytes", content, "isActive" and not "isHidden" and role <> 'system' as "isShown" from messages
          where "chatId" = chat.id and ordinal > ${behind('chat.id')} and ordinal <= ${behind('chat.id')} + ${sliceMessagesMax} offset 0) message on true
        order by chat."updatedAt" ${direction}, chat.id ${direction}, message.ordinal limit ${sliceMessagesMax}) found
      window place as (order by ${order}, ordinal rows unbounded preceding))
    select id, "updatedAt", max(ordinal) as ordinal,
      name ilike ${pattern} or coalesce(bool_or("isShown" and content ilike ${pattern}), false) as "isMatch",
      (select min(ordinal) from messages where "chatId" = read.id and ordinal > ${behind('read.id')} + ${sliceMessagesMax}) as "nextOrdinal",
      max("readCount")::int as "readCount", (sum(count(*)) over ())::int as "searchedCount"
    from read where number = 1 or bytes is null or bytes <= ${sliceBytesMax}
    group by id, "updatedAt", name order by ${order}`;
}
