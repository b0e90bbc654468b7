import { describe, expect, it } from 'vitest';
import type { PageRequest } from '../../../../src/entities/ground/page.ts';
import { searchMessages } from '../../../../src/storage/conversations/chats/message-search.ts';
import { searchChats } from '../../../../src/storage/conversations/chats/search.ts';
import type { Sql } from '../../../../src/storage/ground/database.ts';
import type { Person } from '../../../support/make.ts';
import { sampled } from '../../../support/property/sample.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', {});
const db = () => service.deps.storage.db;
const chatId = (number: number) => `chat_${String(number).padStart(26, '0')}`;
const longChat = chatId(500);
/** A page ends after 30,000. */
const emptyChats = 31_000;

/** Chats of every size: one of 6,000 messages, 700 of three, and one message of 3 MB; some messages are hidden, of another branch, or of the system. */
const ann = await make.person();
const bob = await make.person();
const { pool } = db();
await pool.query(
  `insert into chats (id, "updatedAt", "orgId", "userId", name, "pinPosition")
   select 'chat_' || lpad(i::text, 26, '0'), '2026-01-01'::timestamptz + interval '1 minute' * (i / 3), $1, $2, 'Chat ' || i, case when i % 90 = 0 then 1 end
   from generate_series(1, 701) i`,
  [ann.orgId, ann.userId],
);
await pool.query(
  `insert into messages (id, "updatedAt", "chatId", ordinal, role, content, "isHidden", "isActive")
   select 'msg_' || chat.id || '_' || n, now(), chat.id, n, case when n % 50 = 0 then 'system' when n % 2 = 1 then 'user' else 'assistant' end,
     'word' || (n * 7 + length(chat.name) * 31 + right(chat.id, 4)::int) % 97 || '.', n % 11 = 3, n % 13 <> 5
   from chats chat cross join generate_series(1, case when chat.id = $2 then 6000 else 3 end) n where chat."userId" = $1`,
  [ann.userId, longChat],
);
await pool.query(
  `insert into messages (id, "updatedAt", "chatId", ordinal, role, content) values ('msg_huge', now(), $1, 90000, 'user', repeat('long ', 600000) || 'needle')`,
  [chatId(300)],
);
await pool.query(
  `insert into chats (id, "updatedAt", "orgId", "userId", name)
   select 'chat_' || lpad((i + 10000)::text, 26, '0'), '2026-01-01'::timestamptz + interval '1 second' * i, $1, $2, case when i = 7 then 'Heron' else '' end
   from generate_series(1, ${emptyChats}) i`,
  [bob.orgId, bob.userId],
);
await pool.query('analyze chats; analyze messages');

/** How the search would be in one statement. */
async function reference(text: string, isPinned?: boolean): Promise<readonly string[]> {
  const { rows } = await db().pool.query<{ id: string }>(
    `select id from chats where "userId" = $1 and ($3::boolean is null or ("pinPosition" is not null) = $3) and (name ilike $2 or exists (
       select from messages where "chatId" = chats.id and "isActive" and not "isHidden" and role <> 'system' and content ilike $2))
     order by "updatedAt" desc, id desc`,
    [ann.userId, `%${text}%`, isPinned ?? null],
  );
  return rows.map(({ id }) => id);
}

const search =
  'query ($search: String, $isPinned: Boolean, $first: Int, $after: String, $last: Int, $before: String) { chats(search: $search, isPinned: $isPinned, first: $first, after: $after, last: $last, before: $before) { totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }';

async function pages(who: Person, variables: Record<string, unknown>, isBackward = false) {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let calls = 1; ; calls += 1) {
    const place = isBackward ? { last: 40, before: cursor } : { first: 40, after: cursor };
    const data = await who.ask(search, { ...variables, ...place });
    const { nodes, pageInfo, totalCount } = data.chats;
    const found = nodes.map(({ id }: { id: string }) => id);
    if (isBackward) ids.unshift(...found);
    else ids.push(...found);
    if (!(isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage)) return { ids, calls, totalCount };
    cursor = isBackward ? pageInfo.startCursor : pageInfo.endCursor;
  }
}

describe('a search of chats', () => {
  it.each(sampled(['word5.', 'word96.', 'WORD', 'chat 70', 'needle', 'nowhere', 'word3_']))(
    'finds in slices what one statement finds: %s',
    async (text) => {
      const expected = await reference(text.replaceAll('_', '\\_'));
      const { ids, totalCount } = await pages(ann, { search: text });
      expect(ids).toEqual(expected);
      expect(totalCount).toBe(expected.length);
      expect((await pages(ann, { search: text }, true)).ids).toEqual(expected);
    },
  );

  it('finds pinned chats and others alone', async () => {
    for (const isPinned of [true, false])
      expect((await pages(ann, { search: 'word1', isPinned })).ids).toEqual(await reference('word1', isPinned));
  });

  it('reads at most 2,400 messages and 300 chats in one statement', async () => {
    const { sql, counts } = scanned();
    const page: PageRequest = { limit: 20, after: undefined };
    await searchChats(sql, { userId: ann.userId, orgId: ann.orgId, search: 'nowhere', archive: 'without' }, page);
    const chatIds = [longChat, ...Array.from({ length: 299 }, (_, index) => chatId(index + 1))];
    for (const among of ['spoken', 'questions'] as const)
      for await (const _slice of searchMessages(sql, { chatIds, words: ['nowhere'], among }));
    expect(counts.length).toBeGreaterThan(12);
    // The range of the last chat is read to its end, to put it in order, and of each chat one message more, to know where its messages begin or go on.
    for (const { messages } of counts) expect(messages).toBeLessThanOrEqual(2_400);
    // A slice begins at the last chat of the one before, and leaves it out.
    counts.length = 0;
    await searchChats(sql, { userId: bob.userId, orgId: bob.orgId, search: 'nowhere', archive: 'without' }, page);
    expect(counts).toHaveLength(100);
    for (const { chats } of counts) expect(chats).toBeLessThanOrEqual(301);
  });

  it('ends a page before it is full when it has read enough, and its cursor leads on', async () => {
    const { data } = await bob.graphql(
      '{ chats(search: "heron", first: 5) { nodes { id } pageInfo { hasNextPage endCursor } } }',
    );
    expect(data.chats).toMatchObject({ nodes: [], pageInfo: { hasNextPage: true, endCursor: expect.any(String) } });
    const { ids, calls } = await pages(bob, { search: 'heron' });
    expect([ids, calls]).toEqual([[chatId(10_007)], 2]);
    const { body } = await bob.get('/api/v1/chats?search=heron');
    expect(body.data).toEqual([]);
    expect((await bob.get(`/api/v1/chats?search=heron&cursor=${body.nextCursor}`)).body.data).toHaveLength(1);
  });
});

/** Runs statements, and counts the rows that each reads of the tables of chats and messages. */
function scanned() {
  const counts: { messages: number; chats: number }[] = [];
  const run: Sql['queryPlanned'] = async (text, values = []) => {
    const { rows } = await db().pool.query(`explain (analyze, format json) ${text}`, [...values]);
    const count = { messages: 0, chats: 0 };
    addRows(rows[0]['QUERY PLAN'][0].Plan, count);
    counts.push(count);
    return db().queryPlanned(text, values);
  };
  return { counts, sql: { query: run, queryPlanned: run, execute: () => Promise.reject(new Error('a search changes nothing')) } };
}

function addRows(plan: Plan, counts: Record<string, number>): void {
  const name = plan['Relation Name'];
  if (name !== undefined)
    counts[name] = (counts[name] ?? 0) + (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
  for (const part of plan.Plans ?? []) addRows(part, counts);
}
interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}
