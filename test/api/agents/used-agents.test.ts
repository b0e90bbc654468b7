import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

const { service, make } = await withService('plain', {});

/** The pairs of users and agents that have a chat, by the table that triggers keep and by the chats themselves. */
async function pairs(): Promise<readonly [kept: readonly string[], actual: readonly string[]]> {
  const read = async (sql: string) => {
    const { rows } = await service.deps.storage.db.pool.query<{ pair: string }>(
      `select "userId" || ' ' || "agentId" as pair from ${sql} order by 1`,
    );
    return rows.map(({ pair }) => pair);
  };
  const live = '(select distinct "userId", "agentId" from chats where "agentId" is not null and "deletedAt" is null) live';
  return [await read('agent_users'), await read(live)];
}

describe('agents that a person has used', () => {
  it('are listed as shared until the last chat with them is deleted', async () => {
    const organization = await make.organization();
    const owner = await make.person({ organization });
    const user = await make.person({ organization });
    const agent = await make.agent({ owner, visibility: 'ANYONE_WITH_LINK' });
    const listed = async () => {
      const { data } = await user.graphql('{ agents(filter: { scope: SHARED }) { totalCount nodes { id hasOwnChats } } }');
      return data.agents;
    };
    expect(await listed()).toEqual({ totalCount: 0, nodes: [] });
    const [first, second] = [
      await make.chat({ owner: user, agentId: agent.id }),
      await make.chat({ owner: user, agentId: agent.id }),
    ];
    const shown = { totalCount: 1, nodes: [{ id: agent.id, hasOwnChats: true }] };
    expect(await listed()).toEqual(shown);
    await user.delete(`/api/v1/chats/${first.id}`);
    expect(await listed()).toEqual(shown);
    await user.delete(`/api/v1/chats/${second.id}`);
    expect(await listed()).toEqual({ totalCount: 0, nodes: [] });
  });

  it('are those of the chats, however these are written', async () => {
    const organization = await make.organization();
    const people = [await make.person({ organization }), await make.person({ organization })] as const;
    const agents = [await make.agent({ owner: people[0] }), await make.agent({ owner: people[0] })] as const;
    const { pool } = service.deps.storage.db;
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let step = 0; step < 120; step += 1) {
      const chat = `chat_${random(6)}`;
      const [user, agent] = [people[random(2)]?.userId, agents[random(2)]?.id];
      const writes = [
        [
          `insert into chats (id, "updatedAt", "orgId", "userId", "agentId") values ($1, now(), '', $2, $3) on conflict do nothing`,
          [chat, user, agent],
        ],
        ['update chats set "deletedAt" = now() where id = $1', [chat]],
        ['update chats set "deletedAt" = null where id = $1', [chat]],
        ['update chats set "agentId" = $2 where id = $1', [chat, agent]],
        ['update chats set "agentId" = null where id = $1', [chat]],
        ['update chats set "userId" = $2 where id = $1', [chat, user]],
        ['delete from chats where id = $1', [chat]],
      ] as const;
      const [text, values] = writes[random(writes.length)] ?? writes[0];
      await pool.query(text, [...values]);
      const [kept, actual] = await pairs();
      expect(kept, text).toEqual(actual);
    }
    await pool.query('delete from agents where id = $1', [agents[0].id]);
    const [kept, actual] = await pairs();
    expect(kept).toEqual(actual);
  });
});
