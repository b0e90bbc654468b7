import type { Service } from '../../src/start/service.ts';

export const adminKey = 'pk-bench-administrator-key-of-40-characters';
/** Rows of each of the long lists. */
export const rowCount = 100_000;
const agentCount = 50;
const sourceCount = 20;
const turns = 12;
const chatCount = rowCount / 100;
/** The chat that is opened has two thousand messages. */
const chatCopies = Math.floor(2_000 / (2 * turns));
/** The number of a copied message of that chat. */
const copied = `(1000000 + n * ${2 * turns} + r)`;

export type Variables = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Makes an organization over HTTP, so that every row is what the service writes, and copies rows in the database until its lists are long: 100,000
 * messages, runs, documents of sources, audit entries and usage entries.
 *
 * @returns the variables of each page query.
 */
export async function makeOrganization(service: Service): Promise<Variables> {
  const call = caller(service);
  const agents: Made[] = [];
  const { id: groupId } = await call('POST', '/api/v1/groups', { name: 'All', availability: 'EVERYONE', memberEmails: '' });
  for (let index = 0; index < agentCount; index += 1) {
    const members = {
      name: `Agent ${index}`,
      description: 'Answers questions about the store.',
      instructions: 'Be brief.',
      src: '',
    };
    agents.push(await call('POST', '/api/v1/ais', { ...members, visibility: 'GROUP', groups: [groupId] }));
  }
  const [agent = { id: '' }] = agents;
  const sources: Made[] = [];
  for (let index = 0; index < sourceCount; index += 1) {
    const payload = { name: `Source ${index}`, data: { text: `The store ${index} opens at nine.` } };
    sources.push(await call('POST', `/api/v1/ais/${agent.id}/data-sources/api`, payload));
  }
  await makeParts(call, agent.id);
  await indexed(call, sources);
  const chat = await call('POST', `/api/v1/ais/${agent.id}/chats`, {});
  for (let turn = 0; turn < turns; turn += 1) {
    await call('POST', `/api/v1/chats/${chat.id}/messages`, { prompt: `When does the store ${turn} open?` });
  }
  const { data } = await call('POST', '/graphql', {
    query: `{ chat(id: "${chat.id}") { messages(last: 1) { nodes { run { id } } } } }`,
  });
  const runId = data.chat.messages.nodes[0].run.id as string;
  await multiply(service, { agent, chat, source: sources[0] ?? { id: '' } });
  return {
    ChatQuery: { id: chat.id },
    AgentEditorQuery: { id: agent.id },
    AgentSourcesQuery: { agentId: agent.id },
    SourceQuery: { id: sources[0]?.id },
    RunQuery: { id: runId },
    SearchQuery: { query: 'store' },
  };
}

interface Made {
  readonly id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a reply of the service
  readonly [member: string]: any;
}
type Call = (method: string, path: string, body?: unknown) => Promise<Made>;

export function caller({ url }: Pick<Service, 'url'>): Call {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
    const reply = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text) as Made;
  };
}

async function makeParts(call: Call, agentId: string): Promise<void> {
  const path = `/api/v1/ais/${agentId}`;
  for (let index = 0; index < 10; index += 1) {
    await call('POST', `${path}/skills`, { name: `Skill ${index}`, content: 'Say hello. '.repeat(200) });
    const headers = { Authorization: `Bearer a-secret-of-the-shop-${index}` };
    const data = { url: `https://example.com/prices/${index}`, method: 'GET', headers };
    await call('POST', `${path}/tools`, { name: `price_${index}`, type: 'API_FUNCTION', data });
    await call('POST', `${path}/user-inputs`, { label: `Shop ${index}`, variableName: `shop_${index}`, type: 'SHORT_TEXT' });
    const versions = [1, 2, 3].map((version) => ({ version, data: { steps: [{ id: 'found', type: 'retrieve' }] } }));
    await call('POST', `${path}/flows`, { name: `Flow ${index}`, enabled: index === 0, versions });
  }
}

async function indexed(call: Call, sources: readonly Made[]): Promise<void> {
  for (const { id } of sources) {
    for (let status = ''; status !== 'INDEXED'; ) {
      status = (await call('GET', `/api/v1/data-sources/${id}`)).indexStatus;
      if (status !== 'INDEXED') await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Copies of rows: those that match, `times` times each, with members that differ by the number `n` of the copy. */
interface Copies {
  readonly table: string;
  readonly where: string;
  readonly times: number;
  /** SQL of a JSON object. The number of the copied row among those that match is `r`. */
  readonly members: string;
}

/** An id of the shape of Parley's: the service looks at its prefix and its length. */
const idOf = (prefix: string, number: string) => `'${prefix}_01h' || lpad((${number})::text, 23, '0')`;
/** A moment of the last hundred days. */
const past = "now() - n * interval '86 seconds'";

async function multiply(
  service: Service,
  { agent, chat, source }: Readonly<Record<'agent' | 'chat' | 'source', Made>>,
): Promise<void> {
  const { pool } = service.deps.storage.db;
  const others = `(select array_agg(id order by id) from agents)`;
  const nth = `(${others})[1 + n % ${agentCount}]`;
  const copies: readonly Copies[] = [
    {
      table: 'users',
      where: 'id in (select id from users limit 1)',
      times: 1_000,
      members: `jsonb_build_object('id', ${idOf('user', 'n')}, 'email', 'p' || n || '@example.com', 'name', 'Person ' || n)`,
    },
    {
      table: 'memberships',
      where: 'id in (select id from memberships limit 1)',
      times: 1_000,
      members: `jsonb_build_object('id', ${idOf('mem', 'n')}, 'userId', ${idOf('user', 'n')}, 'role', 'MEMBER', 'createdAt', ${past})`,
    },
    {
      table: 'chats',
      where: `id = '${chat.id}'`,
      times: chatCount,
      members: `jsonb_build_object('id', ${idOf('chat', 'n')}, 'createdAt', ${past}, 'updatedAt', ${past}, 'agentId', ${nth})`,
    },
    // The chat that is opened, and a hundred messages of each other chat; each message answers the one before.
    {
      table: 'messages',
      where: `"chatId" = '${chat.id}' and ordinal >= 0`,
      times: chatCopies,
      members: `jsonb_build_object('id', ${idOf('msg', copied)}, 'ordinal', ${copied} - 3000000, 'parentId', ${idOf('msg', `${copied} - 1`)})`,
    },
    {
      table: 'messages',
      where: `id in (select id from messages where "chatId" = '${chat.id}' and ordinal >= 0 order by ordinal limit 1)`,
      times: rowCount,
      members: `jsonb_build_object('id', ${idOf('msg', 'n')}, 'chatId', ${idOf('chat', `1 + n % ${chatCount}`)}, 'ordinal', n,
        'parentId', case when n > ${chatCount} then ${idOf('msg', `n - ${chatCount}`)} end, 'runId', null)`,
    },
    {
      table: 'runs',
      where: `id in (select id from runs where "chatId" = '${chat.id}' order by id limit 1)`,
      times: rowCount,
      members: `jsonb_build_object('id', ${idOf('run', 'n')}, 'createdAt', ${past}, 'startedAt', ${past}, 'endedAt', ${past}, 'agentId', ${nth},
        'chatId', ${idOf('chat', `1 + n % ${chatCount}`)}, 'userId', case when n % 10 = 0 then numbered."userId" else ${idOf('user', '1 + n % 1000')} end,
        'hasFoundNothing', n % 20 = 0, 'ratedDown', (n % 50 = 0)::int)`,
    },
    {
      table: 'knowledge_items',
      where: `"dataSourceId" = '${source.id}'`,
      times: rowCount,
      members: `jsonb_build_object('id', ${idOf('ki', 'n')}, 'uniqueId', 'item ' || n, 'name', 'Document ' || n, 'createdAt', ${past},
        'indexStatus', case when n % 100 = 0 then 'FAILED' else 'INDEXED' end)`,
    },
    {
      table: 'source_runs',
      where: `id in (select id from source_runs where "dataSourceId" = '${source.id}' limit 1)`,
      times: 1_000,
      members: `jsonb_build_object('id', ${idOf('srun', 'n')}, 'startedAt', ${past}, 'endedAt', ${past})`,
    },
    {
      table: 'audit_entries',
      where: `id in (select id from audit_entries where "targetId" = '${agent.id}' limit 1)`,
      times: rowCount,
      members: `jsonb_build_object('id', ${idOf('aud', 'n')}, 'createdAt', ${past}, 'targetId', ${nth}, 'requestId', n::text)`,
    },
    {
      table: 'usage_entries',
      where: 'id in (select id from usage_entries limit 1)',
      times: rowCount,
      members: `jsonb_build_object('id', ${idOf('use', 'n')}, 'createdAt', ${past}, 'agentId', ${nth}, 'userId', ${idOf('user', '1 + n % 1000')})`,
    },
    {
      table: 'api_keys',
      where: 'id in (select id from api_keys limit 1)',
      times: 1_000,
      members: `jsonb_build_object('id', ${idOf('key', 'n')}, 'hash', 'hash ' || n, 'name', 'Key ' || n, 'createdAt', ${past})`,
    },
  ];
  for (const one of copies) await copy(service, one);
  await pool.query(
    `update messages set "parentId" = ${idOf('msg', String(1_000_000 + (chatCopies + 1) * 2 * turns))} where "chatId" = $1 and ordinal = 0`,
    [chat.id],
  );
  // What the ledger sums up of those entries.
  for (const [dimension, value] of Object.entries(dimensions)) {
    await pool.query(
      `insert into usage_sums ("orgId", dimension, day, value, "apiTokens", "dataTokens")
       select "orgId", $1, date_trunc('day', "createdAt")::date, ${value}, sum("inputTokens" + "outputTokens"), 0
       from usage_entries group by 1, 3, 4 on conflict do nothing`,
      [dimension],
    );
  }
  await pool.query(
    `insert into usage_days ("orgId", day, "agentId", "apiTokens")
     select "orgId", date_trunc('day', "createdAt")::date, coalesce("agentId", ''), sum("inputTokens" + "outputTokens")
     from usage_entries group by 1, 2, 3 on conflict do nothing`,
  );
  // As a database is after a while: pages of indexes are read without the rows.
  await pool.query('vacuum analyze');
}

const dimensions = { user: '"userId"', key: `coalesce("keyId", '')`, model: '"modelId"' } as const;

async function copy({ deps }: Service, { table, where, times, members }: Copies): Promise<void> {
  const { pool } = deps.storage.db;
  const { rows } = await pool.query<{ column_name: string }>(
    `select column_name from information_schema.columns where table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'`,
    [table],
  );
  const { rows: originals } = await pool.query<{ id: string }>(`select id from ${table} where ${where}`);
  const ids = originals.map(({ id }) => id);
  const names = rows.map(({ column_name: name }) => `"${name}"`);
  const step = 2_000;
  for (let from = 1; from <= times; from += step) {
    await pool.query(
      `insert into ${table} (${names.join(', ')}) select ${names.map((name) => `copied.${name}`).join(', ')}
       from (select *, row_number() over (order by id) as r from ${table} where id = any($3)) numbered
       cross join generate_series($1::int, $2::int) n
       cross join lateral jsonb_populate_record(null::${table}, to_jsonb(numbered) || ${members}) copied
       on conflict do nothing`,
      [from, Math.min(from + step - 1, times), ids],
    );
  }
}
