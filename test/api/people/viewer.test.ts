import { describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
const ann = await make.person({ name: 'Ann', email: 'ann@example.com', scopes: ['AGENTS:READ', 'AGENTS:WRITE'] });

describe('viewer', () => {
  it('is the user, the organization and the rights of the key', async () => {
    const { data } = await ann.graphql('{ viewer { keyId user { id name email } organization { id } scopes level role } }');
    expect(data.viewer).toEqual({
      keyId: ann.keyId,
      user: { id: ann.userId, name: 'Ann', email: 'ann@example.com' },
      organization: { id: ann.orgId },
      scopes: ['AGENTS_READ', 'AGENTS_WRITE'],
      level: 'ORGANIZATION',
      role: 'MEMBER',
    });
  });
});

describe('where a front end begins', () => {
  it('one query shows the agents, the chats, the use and the limits of the caller', async () => {
    const eve = await make.person();
    const agent = await make.agent({ owner: eve });
    const chat = await make.chat({ owner: eve, agentId: agent.id });
    const data = await eve.ask(`{ viewer {
      key { id owner { id } organization { id } }
      agents(first: 5) { nodes { id } }
      chats(first: 5) { nodes { id } }
      usage { apiTokensUsed }
      limits { keyRate { requestsPerMinute requestsLeft } runTokens { limit used left } pageSizeMax chatFileMaxBytes }
    } }`);
    expect(data.viewer).toEqual({
      key: { id: eve.keyId, owner: { id: eve.userId }, organization: { id: eve.orgId } },
      agents: { nodes: [{ id: agent.id }] },
      chats: { nodes: [{ id: chat.id }] },
      usage: { apiTokensUsed: 0 },
      limits: {
        keyRate: { requestsPerMinute: 1_200_000, requestsLeft: expect.any(Number) },
        runTokens: { limit: null, used: 0, left: null },
        pageSizeMax: 100,
        chatFileMaxBytes: service.deps.settings.CHAT_FILE_MAX_BYTES,
      },
    });
  });

  it('a key without the scope of a list gets null for it, and the rest', async () => {
    const blind = await make.withKey(ann, { scopes: ['GROUPS:READ'] });
    const data = await blind.ask(
      '{ viewer { user { name } agents { nodes { id } } chats { nodes { id } } usage { apiTokensUsed } key { id } limits { runTokens { used } pageSizeMax } } }',
    );
    const none = { agents: null, chats: null, usage: null, key: null };
    expect(data.viewer).toEqual({ user: { name: 'Ann' }, ...none, limits: { runTokens: null, pageSizeMax: 100 } });
  });
});

describe('a person', () => {
  it('is seen by the people of the organization, and by nobody else', async () => {
    const organization = await make.organization();
    const [carl, dora] = await Promise.all([make.person({ organization, scopes: [] }), make.person({ organization })]);
    const query = 'query ($id: ID!) { node(id: $id) { ... on User { name email memberships { nodes { role } } } } }';
    const seen = (who: Person) => who.graphql(query, { id: dora.userId });
    expect((await seen(carl)).data.node).toMatchObject({ email: dora.email, memberships: null });
    expect((await seen(ann)).data.node).toBeNull();
    const admin = await make.person({ organization, role: 'ADMIN' });
    expect((await seen(admin)).data.node.memberships.nodes).toEqual([{ role: 'MEMBER' }]);
    expect((await seen(await make.person({ role: 'ADMIN' }))).data.node).toBeNull();
  });
});

describe('node', () => {
  const node = (who: Person, id: string) => who.graphql('query ($id: ID!) { node(id: $id) { __typename id } }', { id });

  it('finds what the caller may see', async () => {
    const { id } = await make.agent({ owner: ann });
    expect((await node(ann, id)).data.node).toEqual({ __typename: 'Agent', id });
  });

  it('is null for what is missing, malformed, or hidden from the caller', async () => {
    const bob = await make.person();
    const { id } = await make.agent({ owner: ann });
    for (const [who, asked] of [
      [bob, id],
      [ann, service.deps.newId('agent')],
      [ann, 'nonsense'],
      [ann, ''],
    ] as const) {
      expect(await node(who, asked)).toMatchObject({ data: { node: null }, errors: undefined });
    }
  });

  it('needs the scope of the kind of thing it reads', async () => {
    const { id } = await make.agent({ owner: ann });
    const blind = await make.withKey(ann, { scopes: ['CHATS:READ'] });
    expect((await node(blind, id)).errors?.[0].extensions.code).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('every root field', () => {
  it('refuses text that the database cannot keep, naming the member', async () => {
    const mutation = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }';
    const { errors } = await ann.graphql(mutation, { input: { name: 'a\u0000b', description: 'x', instructions: '' } });
    expect(errors?.[0].extensions).toMatchObject({ code: 'INVALID_VALUE', faults: [{ path: 'input.name' }] });
  });

  it('refuses a page out of bounds and a cursor of another list', async () => {
    for (const [args, path] of [
      ['first: 0', 'first'],
      ['first: 101', 'first'],
      ['after: "x"', 'after'],
      [`after: "${Buffer.from('["x","y"]').toString('base64url')}"`, 'after'],
    ]) {
      const { errors } = await ann.graphql(`{ agents(${args}) { nodes { id } } }`);
      expect(errors?.[0].extensions).toMatchObject({ code: 'INVALID_VALUE', faults: [{ path }] });
    }
  });
});
