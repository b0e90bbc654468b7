import { beforeAll, describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const rewriter = 'openai/rewriter';
const { make, upstream } = await withService('model', { env: { QUERY_REWRITE_MODEL: rewriter, RETRIEVAL_PASSAGES_MAX: '1' } });
const plain = await withService('model', { env: { RETRIEVAL_PASSAGES_MAX: '1' } });

const documents = {
  'rental.md': '# Cargo bicycle\n\nRenting a cargo bicycle is nine euros an hour.\n',
  'pool.md': '# Swimming pool\n\nVisitors cost the pool nothing, and it costs them six euros: that is how much it costs.\n',
};
const first = 'Can I rent a cargo bicycle?';
const answered = 'Yes, by the hour.';
const followUp = 'And how much does it cost?';

async function knowing(bench: typeof plain): Promise<{ ann: Person; agentId: string }> {
  const ann = await bench.make.person();
  const agentId = (await bench.make.agent({ owner: ann, intermediateStepsVisible: true })).id;
  for (const [name, text] of Object.entries(documents)) {
    await indexed(ann, (await addFile(ann, agentId, name, text, 'text/markdown')).body.id);
  }
  return { ann, agentId };
}
/** The passages that the last request to the model had. */
const passages = () => JSON.stringify(upstream.requests.at(-1)?.body?.messages);

type Bench = Awaited<ReturnType<typeof knowing>>;
/** Asks the second question on each API, after the first was answered. */
const ways: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  async chat({ ann, agentId }) {
    const { id } = (await ann.post(`/api/v1/ais/${agentId}/chats`)).body;
    await ann.post(`/api/v1/chats/${id}/messages`, { prompt: first });
    return (await ann.post(`/api/v1/chats/${id}/messages`, { prompt: followUp })).body;
  },
  async completion({ ann, agentId }) {
    await ann.post('/api/v1/chat/completions', { model: agentId, messages: [{ role: 'user', content: first }] });
    const messages = [
      { role: 'user', content: first },
      { role: 'assistant', content: answered },
      { role: 'user', content: followUp },
    ];
    return (await ann.post('/api/v1/chat/completions', { model: agentId, messages })).body;
  },
  async response({ ann, agentId }) {
    const before = await ann.post('/api/v2/responses', { model: agentId, input: first });
    const body = { model: agentId, input: followUp, previous_response_id: before.body.id };
    return (await ann.post('/api/v2/responses', body)).body;
  },
};

describe('a question that goes on from others', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await knowing(plain);
  });

  it.each(Object.entries(ways))('is searched with what was said before: %s', async (_name, ask) => {
    upstream.next({ text: answered }, { text: 'Nine euros.' });
    await ask(bench);
    expect(upstream.requests).toHaveLength(2);
    expect(passages()).toContain('nine euros an hour');
  });

  it('is searched as it is where nothing was said before', async () => {
    upstream.next({ text: 'Six euros.' });
    const messages = [{ role: 'user', content: followUp }];
    await bench.ann.post('/api/v1/chat/completions', { model: bench.agentId, messages });
    expect(passages()).toContain('six euros');
  });
});

describe('a question that goes on from others, with a model that rewrites it', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await knowing({ make, upstream } as typeof plain);
  });

  it.each(Object.entries(ways))('is searched as that model writes it: %s', async (_name, ask) => {
    upstream.next({ text: answered }, { text: 'What does the swimming pool cost?' }, { text: 'Six euros.' });
    await ask(bench);
    expect(upstream.requests.map(({ body }) => body?.model)).toEqual(['test-model', 'rewriter', 'test-model']);
    expect(JSON.stringify(upstream.requests[1]?.body?.messages)).toContain(`user: ${first}`);
    expect(passages()).toContain('six euros');
  });

  it('is searched with what was said before when that model fails', async () => {
    upstream.next({ text: answered }, { status: 500, body: '{}' }, { text: 'Nine euros.' });
    await ways.completion?.(bench);
    expect(passages()).toContain('nine euros an hour');
  });

  it('is not shown to that model where a guard has one that finds names', async () => {
    const ann = await make.person({ role: 'ADMIN' });
    const agentId = (await make.agent({ owner: ann })).id;
    await indexed(ann, (await addFile(ann, agentId, 'rental.md', documents['rental.md'], 'text/markdown')).body.id);
    const setGuard = `mutation ($input: GuardInput!) { setOrganizationGuard(input: $input) { modelId } }`;
    expect((await ann.graphql(setGuard, { input: { modelId: 'openai/test-model' } })).errors).toBeUndefined();
    upstream.reset();
    upstream.next({ text: '[]' }, { text: answered }, { text: '[]' }, { text: 'Nine euros.' });
    await ways.completion?.({ ann, agentId });
    expect(upstream.requests.map(({ body }) => body?.model)).toEqual(Array(4).fill('test-model'));
  });
});
