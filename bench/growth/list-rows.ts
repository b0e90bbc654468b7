import type { Client } from 'pg';

/** How many synthetic rows of each kind. */
export const sizes = {
  users: 100_000,
  agents: 100_000,
  chats: 1_000_000,
  messages: 2_000_000,
  runs: 1_000_000,
  ledger: 1_000_000,
  audit: 1_000_000,
  sources: 20_000,
  items: 200_000,
} as const;
/** Chats of one person, with 300 agents. */
export const chatsOfOne = 100_000;

/** The id of a synthetic row, as the database writes it. */
export const idOf = (prefix: string, number: number) => `${prefix}_${String(number).padStart(26, '0')}`;
const id = (prefix: string, number: string) => `'${prefix}_' || lpad((${number})::text, 26, '0')`;
const from = (count: number) => `from generate_series(1, ${count}) i`;
/** A time in the last year, in the order of the numbers. */
const time = (count: number) => `now() - interval '365 days' * (${count} - i) / ${count}`;

/**
 * Fills a new database: one organization in which everything lies, and a second one with a tenth of the agents, which are open by link. The person
 * `user_…1` has many chats.
 */
export async function fillLists(client: Client, place: { readonly orgId: string; readonly tenantId: string }): Promise<void> {
  const { tenantId } = place;
  await client.query('set session_replication_role = replica; set maintenance_work_mem = 262144');
  await client.query(
    `insert into organizations (id, "updatedAt", "tenantId", name) values ('${idOf('org', 2)}', now(), '${tenantId}', 'Second')`,
  );
  for (const statement of statementsOf(place)) {
    const started = performance.now();
    await client.query(statement);
    console.error(`${((performance.now() - started) / 1000).toFixed(1)} s ${statement.slice(0, 40).replaceAll('\n', ' ')}`);
  }
  await client.query('vacuum analyze');
}

/** In their order. */
export function statementsOf({ orgId, tenantId }: { readonly orgId: string; readonly tenantId: string }): readonly string[] {
  const owner = id('user', '1 + i % 1000');
  // One of them has a fiftieth of the entries.
  const target = id('ai', 'case when i % 50 = 1 then 1 else 1 + i % 19997 end');
  return [
    `insert into users (id, "createdAt", "updatedAt", "tenantId", email, name)
     select ${id('user', 'i')}, ${time(sizes.users)}, now(), '${tenantId}', 'person' || i || '@example.com', 'Person ' || i || ' of ' || md5(i::text) ${from(sizes.users)}`,
    `insert into memberships (id, "createdAt", "orgId", "userId")
     select ${id('mem', 'i')}, ${time(sizes.users)}, '${orgId}', ${id('user', 'i')} ${from(sizes.users)}`,
    `insert into groups (id, "updatedAt", "orgId", "ownerUserId", name)
     select ${id('grp', 'i')}, now(), '${orgId}', ${owner}, 'Group ' || i ${from(1_000)}`,
    `insert into group_members ("groupId", email, "userId", "updatedAt")
     select ${id('grp', '1 + i % 1000')}, 'person' || i || '@example.com', ${id('user', 'i')}, now() ${from(20_000)}`,
    `insert into agent_categories (id, "updatedAt", "orgId", name)
     select ${id('cat', 'i')}, now(), '${orgId}', 'Category ' || i ${from(50)}`,
    `insert into agents (id, "createdAt", "updatedAt", "orgId", "userId", name, description, instructions, src, visibility,
       "listInOrgCatalog", "listInPublicCatalog", "orgCategoryIds", "publicCategories")
     select ${id('ai', 'i')}, ${time(sizes.agents)}, ${time(sizes.agents)}, case when i % 10 = 0 then '${idOf('org', 2)}' else '${orgId}' end, ${owner},
       'Agent ' || i || ' ' || left(md5(i::text), 8), 'Helps with ' || md5((i * 7)::text) || ' and other work', repeat('Be brief. ', 40), '',
       case when i % 10 = 0 then 'ANYONE_WITH_LINK' when i % 10 < 5 then 'PRIVATE' when i % 10 < 8 then 'ORGANIZATION' else 'GROUP' end,
       i % 10 = 7, i % 100 = 0, case when i = 77 or i = 88 then array['${idOf('cat', 50)}'] when i % 5 = 0 then array[${id('cat', '1 + i % 49')}] else '{}' end, '{}'
     ${from(sizes.agents)}`,
    `insert into agent_groups ("agentId", "groupId")
     select ${id('ai', 'i')}, ${id('grp', '1 + i % 1000')} ${from(sizes.agents)} where i % 10 in (8, 9)`,
    `insert into chats (id, "createdAt", "updatedAt", "orgId", "userId", "agentId", name)
     select ${id('chat', 'i')}, ${time(sizes.chats)}, ${time(sizes.chats)}, '${orgId}', ${id('user', `case when i % 10 = 0 then 1 else 2 + i % 9973 end`)},
       ${id('ai', `case when i % 10 = 0 then 10 * (1 + (i / 10) % 300) when i % 5 = 1 then 5 else 1 + i % 19997 end`)}, 'Chat ' || i
     ${from(sizes.chats)}`,
    // What triggers do, which are off here.
    `insert into agent_users ("userId", "agentId") select distinct "userId", "agentId" from chats`,
    `insert into messages (id, "createdAt", "updatedAt", "chatId", ordinal, role, content)
     select ${id('msg', 'i')}, now(), now(), ${id('chat', '1 + (i - 1) / 2')}, (i - 1) % 2, case when i % 2 = 1 then 'user' else 'assistant' end,
       'What ' || md5(i::text) || ' says about the ' || left(md5((i / 50)::text), 6) || ' of things that people ask and answer every day'
     ${from(sizes.messages)}`,
    `insert into runs (id, "createdAt", "updatedAt", "startedAt", "endedAt", "orgId", "userId", "keyId", "agentId", "chatId", "modelId", status, request,
       "inputTokens", "outputTokens", cost, "durationMs", "ratedDown", "hasFoundNothing", kind)
     select ${id('run', 'i')}, ${time(sizes.runs)}, now(), ${time(sizes.runs)}, ${time(sizes.runs)}, '${orgId}', ${id('user', `case when i % 10 = 0 then 1 else 2 + i % 9973 end`)}, '',
       ${id('ai', `case when i % 5 = 1 then 5 else 1 + i % 19997 end`)}, ${id('chat', 'i')}, 'parley/model-' || i % 7, case when i % 50 = 0 then 'failed' else 'completed' end, '{}',
       100, 50, 0.001, 1200, (i % 200 = 0)::int, i % 300 = 0, 'chat'
     ${from(sizes.runs)}`,
    `insert into usage_entries (id, "createdAt", "orgId", "userId", "keyId", "agentId", purpose, "modelId", "inputTokens", "outputTokens")
     select ${id('use', 'i')}, ${time(sizes.ledger)}, '${orgId}', ${id('user', `case when i % 10 = 0 then 1 else 2 + i % 9973 end`)}, ${id('key', '1 + i % 5000')},
       ${id('ai', `case when i % 5 = 1 then 5 else 1 + i % 19997 end`)}, 'run', 'parley/model-' || i % 7, 100, 50
     ${from(sizes.ledger)}`,
    `insert into usage_days ("orgId", day, "agentId", "apiTokens")
     select "orgId", ("createdAt" at time zone 'utc')::date, "agentId", sum("inputTokens" + "outputTokens") from usage_entries group by 1, 2, 3 order by 2`,
    `insert into usage_sums ("orgId", dimension, day, value, "apiTokens")
     select "orgId", d.dimension, ("createdAt" at time zone 'utc')::date, d.value, sum("inputTokens" + "outputTokens") from usage_entries
     cross join lateral (values ('user', "userId"), ('key', "keyId"), ('model', "modelId")) d (dimension, value) group by 1, 2, 3, 4 order by 3`,
    // What triggers do, which are off here.
    `insert into usage_months ("orgId", dimension, month, value, "apiTokens")
     select "orgId", 'agent', date_trunc('month', day)::date, "agentId", sum("apiTokens") from usage_days group by 1, 3, 4 union all
     select "orgId", dimension, date_trunc('month', day)::date, value, sum("apiTokens") from usage_sums where dimension <> 'model' group by 1, 2, 3, 4 order by 3, 2`,
    `insert into audit_entries (id, "createdAt", "orgId", "actorUserId", "actorKeyId", "actorEmail", action, kind, "targetKind", "targetId", "targetIds", changes, "requestId")
     select ${id('aud', 'i')}, ${time(sizes.audit)}, '${orgId}', ${id('user', '1 + i % 9973')}, 'key_1', 'person@example.com',
       case when i = 5000 then 'deleteTenant' when i % 400 = 0 then 'agents, chats' else 'action' || i % 60 end, case when i % 3 = 0 then 'READ' else 'CHANGE' end,
       'agent', ${target}, case when i % 3 = 0 then array[${target}, ${id('ai', '1 + i % 19991')}] when i % 3 = 1 then array[${target}] else '{}' end, '[]', ${id('req', 'i')}
     ${from(sizes.audit)}`,
    `insert into data_sources (id, "createdAt", "updatedAt", "orgId", "ownerUserId", name, type, "orgVisible")
     select ${id('ds', 'i')}, ${time(sizes.sources)}, now(), '${orgId}', ${owner}, 'Source ' || i || ' ' || left(md5(i::text), 8), 'FILE_UPLOAD', i % 2 = 0 ${from(sizes.sources)}`,
    `insert into agent_data_sources ("agentId", "dataSourceId") select ${id('ai', 'i')}, ${id('ds', 'i')} ${from(sizes.sources)}`,
    `insert into knowledge_items (id, "createdAt", "updatedAt", "orgId", "dataSourceId", name, "uniqueId", type, "indexStatus", "liveGeneration")
     select ${id('ki', 'i')}, ${time(sizes.items)}, now(), '${orgId}', ${id('ds', 'case when i % 2 = 0 then 1 else 1 + i % 19997 end')}, 'Document ' || i || ' ' || left(md5(i::text), 8), i, 'FILE',
       case when i % 1000 = 0 then 'FAILED' else 'INDEXED' end, 1 ${from(sizes.items)}`,
  ];
}
