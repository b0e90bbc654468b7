import { describe, expect, it, vi } from 'vitest';
import type { GraphQLReply } from '../../../support/client.ts';
import { withService } from '../../../support/service.ts';

const messagesMax = 200;
const messageCount = 5_000;
const { service, make } = await withService('web', { env: { MESSAGES_MAX: String(messagesMax) } });

const idOf = (n: string) => `'msg_01h' || lpad((${n})::text, 23, '0')`;

const ann = await make.person();
const agent = await make.agent({ owner: ann });
const chatId = (await make.chat({ owner: ann, agentId: agent.id })).id;
await service.deps.storage.db.pool.query(
  `insert into messages (id, "parentId", "createdAt", "updatedAt", "chatId", ordinal, role, content, parts, "isHidden")
   select ${idOf('n')}, case when n > 0 then ${idOf('n - 1')} end, now(), now(), $1, n, case n % 2 when 0 then 'user' else 'assistant' end, 'text ' || n,
     case n when 4990 then '[{"type":"text","text":"text 4990"},{"type":"text","text":"secret","invisible":true}]'::jsonb end, n % 1000 = 0
   from generate_series(0, $2::int - 1) as n`,
  [chatId, messageCount],
);
await service.deps.storage.db.pool.query('analyze messages');

const pathOf = (query = '') => `/api/v1/chats/${chatId}/messages${query}`;

describe('GET /api/v1/chats/{chatId}/messages', () => {
  it('gives the newest page first, and leads back to the first message without a gap', async () => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { status, body } = await ann.get(pathOf(cursor === null ? '' : `?limit=100&cursor=${cursor}`));
      expect(status).toBe(200);
      expect(body.data.length).toBeLessThanOrEqual(100);
      seen.push(...body.data.map(({ content }: { content: string }) => content));
      cursor = body.nextCursor;
    } while (cursor !== null);
    const all = Array.from({ length: messageCount }, (_, n) => n).filter((n) => n % 1_000 !== 0);
    expect(seen).toEqual(all.reverse().map((n) => `text ${n}`));
  });

  it('shows each message with the members that the chat shows, and the chat shows its transcript as before', async () => {
    const { body: chat } = await ann.get(`/api/v1/chats/${chatId}`);
    expect(chat.messages).toHaveLength(messagesMax);
    const { body } = await ann.get(pathOf('?limit=20'));
    expect(body.data.toReversed()).toEqual(chat.messages.slice(-20));
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it('gives the same page by GraphQL', async () => {
    const query =
      'query ($id: ID!) { chatMessages(chatId: $id, first: 3) { nodes { content } totalCount pageInfo { hasNextPage endCursor } } }';
    const { data } = await ann.graphql(query, { id: chatId });
    const { body } = await ann.get(pathOf('?limit=3'));
    expect(data.chatMessages.nodes).toEqual(body.data.map(({ content }: { content: string }) => ({ content })));
    expect(data.chatMessages).toMatchObject({ totalCount: 4_995, pageInfo: { hasNextPage: true, endCursor: body.nextCursor } });
  });

  it('reads no more rows for a page in the middle of a long chat than the page has', async () => {
    const { pool } = service.deps.storage.db;
    const middle = Buffer.from(JSON.stringify([2_500])).toString('base64url');
    const query = vi.spyOn(pool, 'query');
    expect((await ann.get(pathOf(`?limit=20&cursor=${middle}`))).body.data[0].content).toBe('text 2499');
    const asked = query.mock.calls.map(([statement]) => statement as unknown as { text: string; values: unknown[] });
    query.mockRestore();
    const reads = asked.filter(({ text }) => typeof text === 'string' && /from messages where/i.test(text));
    expect(reads).toHaveLength(1);
    for (const { text, values } of reads) {
      const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values);
      expect(Math.max(...rowsIn(rows[0]['QUERY PLAN'][0].Plan)), text).toBeLessThanOrEqual(21);
    }
  });

  it('is read by GraphQL from either end, in order and without a gap', async () => {
    const all = Array.from({ length: messageCount }, (_, n) => n).filter((n) => n % 1_000 !== 0);
    const query = `query ($id: ID!, $first: Int, $after: String, $last: Int, $before: String) { chat(id: $id) {
      messages(first: $first, after: $after, last: $last, before: $before) {
        nodes { content } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`;
    for (const isForward of [true, false]) {
      const seen: string[] = [];
      for (let cursor: string | null = null, goesOn = true; goesOn; ) {
        const place: object = isForward ? { first: 100, after: cursor } : { last: 100, before: cursor };
        const { data }: GraphQLReply = await ann.graphql(query, { id: chatId, ...place });
        const { nodes, pageInfo } = data.chat.messages;
        const contents = nodes.map(({ content }: { content: string }) => content);
        if (isForward) seen.push(...contents);
        else seen.unshift(...contents);
        [cursor, goesOn] = isForward
          ? [pageInfo.endCursor, pageInfo.hasNextPage]
          : [pageInfo.startCursor, pageInfo.hasPreviousPage];
      }
      expect(seen).toEqual(all.map((n) => `text ${n}`));
    }
  });

  it('opens with all that a front end shows of it, by a fixed number of statements that read a page each', async () => {
    const { pool } = service.deps.storage.db;
    const page = `query ($id: ID!, $last: Int!) { chat(id: $id) {
      id name isUnread canWrite agent { id name } activeRun { id status } files(first: 20) { nodes { id filename } }
      messages(last: $last) { nodes { id role content isComplete error { message } parts { ... on TextPart { text } ... on FilePart { file { id } } }
        files { id } citations { index } feedback { rating } siblingIndex siblingCount siblings { id } run { id } parent { id } }
        pageInfo { hasPreviousPage startCursor } } } }`;
    const statementsOf = async (last: number) => {
      const query = vi.spyOn(pool, 'query');
      const { data, errors } = await ann.graphql(page, { id: chatId, last });
      const asked = query.mock.calls.map(([statement]) => statement as unknown as { text: string; values: unknown[] });
      query.mockRestore();
      expect(errors).toBeUndefined();
      expect(data.chat.messages.nodes).toHaveLength(last);
      expect(data.chat.messages.nodes[0]).toMatchObject({ siblingIndex: 0, siblingCount: 1, feedback: null });
      return asked.filter(({ text }) => typeof text === 'string' && /^\s*(select|with)/i.test(text));
    };
    await statementsOf(5);
    const few = await statementsOf(5);
    const many = await statementsOf(50);
    expect(many.length).toBe(few.length);
    expect(many.length).toBeLessThanOrEqual(12);
    for (const { text, values } of many) {
      const { rows } = await pool.query(`explain (analyze, format json) ${text}`, values);
      expect(Math.max(...rowsIn(rows[0]['QUERY PLAN'][0].Plan)), text).toBeLessThanOrEqual(220);
    }
  });

  it.each([
    ['no key', () => service.nobody.get(pathOf()), 401],
    ['someone else', async () => (await make.person()).get(pathOf()), 404],
    ['a limit of 0', () => ann.get(pathOf('?limit=0')), 400],
    ['a cursor that is none', () => ann.get(pathOf('?cursor=x')), 400],
  ])('refuses: %s', async (_case, call, status) => {
    expect((await call()).status).toBe(status);
  });

  it.each([-1, 2.5, 1e300])('takes a forged cursor of %s as a place', async (place) => {
    const cursor = Buffer.from(JSON.stringify([place])).toString('base64url');
    expect((await ann.get(pathOf(`?cursor=${cursor}`))).status).toBe(200);
  });
});

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}
/** How many rows each step of a plan read. */
function rowsIn(node: PlanNode): readonly number[] {
  return [node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0), ...(node.Plans ?? []).flatMap(rowsIn)];
}
