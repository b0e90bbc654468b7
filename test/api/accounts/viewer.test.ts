import { beforeAll, describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { withService } from '../../support/service.ts';

const { service, make } = await withService();
let ann: Person;
beforeAll(async () => {
  ann = await make.person({ name: 'Ann', email: 'ann@example.com', scopes: ['AGENTS:READ', 'AGENTS:WRITE'] });
});

describe('viewer', () => {
  it('is the user, the organization and the rights of the key', async () => {
    const { data } = await ann.graphql('{ viewer { keyId user { id name email } organization { id } scopes level role } }');
    expect(data.viewer).toEqual({
      keyId: ann.keyId,
      user: { id: ann.userId, name: 'Ann', email: 'ann@example.com' },
      organization: { id: ann.orgId },
      scopes: ['AGENTS:READ', 'AGENTS:WRITE'],
      level: 'ORGANIZATION',
      role: 'MEMBER',
    });
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
  it('needs its scope', async () => {
    const { errors } = await (await make.withKey(ann, { scopes: [] })).graphql('{ agents { nodes { id } } }');
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'INSUFFICIENT_SCOPE' }, path: ['agents'] });
  });

  it('refuses text that the database cannot keep, naming the member', async () => {
    const mutation = 'mutation ($input: CreateAgentInput!) { createAgent(input: $input) { id } }';
    const { errors } = await ann.graphql(mutation, { input: { name: 'a\u0000b', description: 'x', instructions: '', src: '' } });
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
