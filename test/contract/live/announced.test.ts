import { describe, expect, it } from 'vitest';
import { topicsOfKind } from '../../../src/domain/operations/live/feed.ts';
import { type LiveKind, liveKinds } from '../../../src/entities/operations/live.ts';
import { createApis } from '../../../src/start/app.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { sampledOperations, triesAll } from '../../support/property/sample.ts';
import { withService } from '../../support/service.ts';
import { callsOf } from '../authorization/calls.ts';
import { outcomeOf } from '../authorization/relations.ts';
import { table } from '../authorization/table.ts';
import { World, worldEnv } from '../authorization/world.ts';

// Every mutation, also a future one: what it writes of agents, chats, sources, memories and connections is announced, by a signal that the lists that
// are live listen to (test/api/operations/live). The database itself notes the rows that are written. Operations come from the schema, arguments from the
// authorization table.

const { schema } = createApis();
const mutations = callsOf(schema, []).filter(({ operation }) => operation.startsWith('Mutation.'));

const { service, upstream } = await withService('web', { env: { ...worldEnv, EMBEDDING_MODEL: 'openai/embed' } });

/** Tables of things with lists that are live, and of their parts: the column with the id of the thing, and columns that lists do not show. */
const tables: Readonly<Record<string, { readonly kind: LiveKind; readonly id: string; readonly unseen?: readonly string[] }>> = {
  agents: { kind: 'agent', id: 'id', unseen: ['messageCount', 'approvedHash', 'rowBytes'] },
  agent_editors: { kind: 'agent', id: 'agentId' },
  agent_groups: { kind: 'agent', id: 'agentId' },
  agent_tools: { kind: 'agent', id: 'agentId' },
  agent_user_inputs: { kind: 'agent', id: 'agentId' },
  agent_skills: { kind: 'agent', id: 'agentId' },
  agent_flows: { kind: 'agent', id: 'agentId' },
  agent_ratings: { kind: 'agent', id: 'agentId' },
  chats: { kind: 'chat', id: 'id', unseen: ['rowBytes'] },
  messages: { kind: 'chat', id: 'chatId', unseen: ['compression', 'updatedAt', 'rowBytes'] },
  message_feedback: { kind: 'chat', id: 'chatId' },
  chat_reads: { kind: 'chat', id: 'chatId' },
  data_sources: { kind: 'dataSource', id: 'id', unseen: ['isSyncForced', 'isSyncWanted', 'rowBytes'] },
  agent_data_sources: { kind: 'dataSource', id: 'dataSourceId' },
  memories: { kind: 'memory', id: 'id' },
  chat_imports: { kind: 'chatImport', id: 'id', unseen: ['windowStart', 'windowDone', 'updatedAt'] },
  connections: { kind: 'connection', id: 'id', unseen: ['renewalOwner', 'renewalUntil'] },
  memberships: { kind: 'membership', id: 'id' },
  invitations: { kind: 'invitation', id: 'id', unseen: ['mailHash'] },
  api_keys: { kind: 'apiKey', id: 'id', unseen: ['lastUsedAt'] },
  groups: { kind: 'group', id: 'id' },
  group_members: { kind: 'group', id: 'groupId' },
};

/** `kind id` of what was announced. */
const announced = new Set<string>();

const world = await World.create(service);
const setting = await world.setting('PRIVATE');
const people = await world.people();
const { pool } = service.deps.storage.db;
await pool.query(`
  create schema live_probe;
  create table live_probe.written (kind text, subject text);
  create function live_probe.note() returns trigger language plpgsql as $$
  declare
    before jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
    after jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
  begin
    if before - tg_argv[1]::text[] = after - tg_argv[1]::text[] then return null; end if;
    insert into live_probe.written values (tg_argv[2], coalesce(after->>tg_argv[0], before->>tg_argv[0]));
    return null;
  end $$;`);
for (const [name, { kind, id, unseen = [] }] of Object.entries(tables)) {
  await pool.query(
    `create trigger live_probe after insert or update or delete on ${name} for each row execute function live_probe.note('${id}', '{${unseen.join(',')}}', '${kind}')`,
  );
}
for (const kind of liveKinds)
  for (const topic of topicsOfKind[kind])
    service.deps.storage.signals.subscribe(topic, (id) => {
      announced.add(`${kind} ${id}`);
    });

/** `kind id` of each row that was written since the last call. */
async function written(): Promise<ReadonlySet<string>> {
  const { rows } = await service.deps.storage.db.pool.query<{ what: string }>(
    `delete from live_probe.written returning kind || ' ' || subject as what`,
  );
  return new Set(rows.map(({ what }) => what));
}

/** Waits until no run is at work. */
async function quiet(): Promise<void> {
  await eventually(async () => {
    const { rows } = await service.deps.storage.db.pool.query(`select id from runs where status = 'in_progress'`);
    expect(rows).toEqual([]);
  });
}

describe('what a mutation writes is announced', () => {
  const seen = new Set<string>();

  it.each(sampledOperations(mutations.map(({ operation, call }) => [operation, call] as const)))(
    '%s',
    async (operation, call) => {
      const line = table[operation];
      if (line === undefined) throw new Error(`${operation} has no line`);
      const who = (['owner', 'orgAdmin', 'instanceKey'] as const).find(
        (name) => outcomeOf(line.needs, name, 'PRIVATE', true) === 'allowed',
      );
      if (who === undefined) throw new Error(`nobody may ${operation}`);
      const vectors = [{ object: 'embedding', index: 0, embedding: [0.5] }];
      upstream.otherwise({
        body: JSON.stringify({ object: 'list', data: vectors, usage: { prompt_tokens: 1, total_tokens: 1 } }),
      });
      const given = await line.given(setting);
      await quiet();
      await written();
      announced.clear();
      const { status } = await call(people[who], given);
      if (line.reaches === undefined) expect(status).toBeLessThan(300);
      await quiet();
      const changed = await written();
      for (const what of changed) seen.add(what.split(' ', 1)[0] ?? '');
      await eventually(() => expect([...changed].filter((what) => !announced.has(what))).toEqual([]), 2_000);
    },
  );

  it.runIf(triesAll)('there were changes of each kind', () => {
    expect([...seen].toSorted()).toEqual(liveKinds.filter((kind) => kind !== 'run').toSorted());
  });
});
