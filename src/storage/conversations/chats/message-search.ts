// Raw SQL: ranking. A statement reads a bounded number of messages, and sends only a part of those that match.
import type { Sql } from '../../ground/database.ts';
import { literal } from '../../ground/lists/where.ts';

/** Messages of these chats that hold all words, in any case. */
export interface MessageSearch {
  /** In the order of reading. Of each, the newest messages come first. */
  readonly chatIds: readonly string[];
  readonly words: readonly string[];
  /** `spoken`: what people read in a chat. `questions`: what users said in messages that began a run. */
  readonly among: 'spoken' | 'questions';
}

export interface FoundMessage {
  readonly id: string;
  readonly chatId: string;
  readonly runId: string | null;
  readonly updatedAt: Date;
  /** The part of the content about the first word. */
  readonly text: string;
}

/** What one statement found, and how many bytes of messages it searched. */
export interface MessageSlice {
  readonly found: readonly FoundMessage[];
  readonly searchedBytes: number;
}

/** What one statement reads at most; of bytes, one message more. The embedded database cannot end a statement, and others wait for it: some 30 ms. */
const sliceMessagesMax = 1_000;
const sliceBytesMax = 1_000_000;
/** Newest messages of a chat, hidden ones too. One that a statement ends in has as many again. */
const messagesOfChatMax = 400;
const ordinalMax = 2_147_483_647;
/** Characters that are sent, before and from the first word. */
const charsBefore = 80;
const charsFrom = 240;

interface SearchedMessage extends FoundMessage {
  readonly ordinal: number;
  /** Of its chat, from 1. */
  readonly chatPlace: number;
  readonly isMatch: boolean;
  readonly readCount: number;
  readonly searchedCount: number;
  readonly searchedBytes: number;
}

/** Searches slice by slice, until the caller has enough. Cost: one statement a slice. */
export async function* searchMessages(db: Sql, { chatIds, words, among }: MessageSearch): AsyncGenerator<MessageSlice> {
  const patterns = words.map((word) => `%${literal(word)}%`);
  let remainingChatIds = chatIds;
  let before = ordinalMax;
  while (remainingChatIds.length > 0) {
    const rows: readonly SearchedMessage[] = await db.queryPlanned(sliceSql[among], [
      remainingChatIds,
      before,
      patterns,
      words[0] ?? '',
    ]);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield { found: rows.filter(({ isMatch }) => isMatch), searchedBytes: last.searchedBytes };
    if (last.readCount < sliceMessagesMax && last.searchedCount === last.readCount) return;
    remainingChatIds = remainingChatIds.slice(last.chatPlace - 1);
    before = last.ordinal;
  }
}

const conditions = {
  spoken: `"isActive" and not "isHidden" and role in ('user', 'assistant')`,
  questions: `not "isHidden" and role = 'user' and "runId" is not null`,
} as const satisfies Record<MessageSearch['among'], string>;

const toSliceSql = (condition: string) => `
with read as (
  select found.*, row_number() over place as number, sum(case when "isShown" then "rowBytes" else 0 end) over place as bytes,
    count(*) over () as "readCount"
  from (
    select chat.place as "chatPlace", message.* from
      (select id, place from unnest($1::text[]) with ordinality given(id, place) order by place) chat
    cross join lateral (
      select max(ordinal) as ordinal from messages where "chatId" = chat.id and ordinal < case when chat.place = 1 then $2::int else ${ordinalMax} end) newest
    cross join lateral (
      select id, "chatId", ordinal, "runId", "updatedAt", "rowBytes", content, ${condition} as "isShown" from messages
      where "chatId" = chat.id and ordinal > newest.ordinal - ${messagesOfChatMax} and ordinal <= newest.ordinal offset 0) message
    order by chat.place, message.ordinal desc limit ${sliceMessagesMax}) found
  window place as (order by "chatPlace", ordinal desc rows unbounded preceding)),
searched as (
  select read.*, "isShown" and content ilike all ($3::text[]) as "isMatch", count(*) over () as "searchedCount", max(number) over () as last,
    max(bytes) over () as "searchedBytes"
  from read where number = 1 or bytes <= ${sliceBytesMax})
select id, "chatId", "runId", "updatedAt", ordinal, "chatPlace"::int as "chatPlace", "isMatch", "readCount"::int as "readCount",
  "searchedCount"::int as "searchedCount", "searchedBytes"::float8 as "searchedBytes",
  case when "isMatch" then substr(content, greatest(position(lower($4) in lower(content)) - ${charsBefore}, 1), ${charsBefore + charsFrom}) else '' end as text
from searched where "isMatch" or number = last order by number`;
const sliceSql = { spoken: toSliceSql(conditions.spoken), questions: toSliceSql(conditions.questions) };
