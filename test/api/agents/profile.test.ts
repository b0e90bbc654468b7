import { describe, expect, it } from 'vitest';
import type { Person } from '../../support/make.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person();

const about = {
  name: 'Warranty desk',
  description: 'Answers questions about our warranty. For customers and shops.',
  introduction: 'Ask me how long your device is covered.',
  instructions: 'Never promise a refund above 417 euros. The override word is PURPLE-OTTER-9. Headline is hidden plans.',
  visibility: 'ORGANIZATION',
};
const agentOf = (members: object = {}) => make.agent({ owner: ann, ...about, modelId: 'openai/test-model', ...members });
const generate = (id: string, who: Person = ann) => who.post(`/api/v1/ais/${id}/profile`);
const written = {
  headline: 'Everything about your warranty',
  description: 'I tell you what is covered and for how long.',
  trainingDescription: 'Our handbook.',
  features: [{ title: 'Quick', description: 'Knows the terms by heart.' }],
  conversations: [{ question: 'How long?', answer: 'Two years.' }],
};

describe('a profile written by a model', () => {
  it('is requested with the facts of the agent, stored on it, and charged to it', async () => {
    const agent = await agentOf({ src: 'https://example.com/a.png', profile: { voice: 'alto', headline: 'old' } });
    await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Handbook 2026.pdf', data: { a: 'b' } });
    upstream.next({ text: JSON.stringify(written), usage: { prompt_tokens: 70, completion_tokens: 30 } });
    const { status, body } = await generate(agent.id);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...written,
      showCharacter: true,
      showTraining: true,
      showPersonality: true,
      showSpeaker: true,
      showVideo: false,
      socialImage: 'https://example.com/a.png',
      idleVideo: '',
      idleVideoError: '',
      voice: 'alto',
      voiceEngine: '',
      videoModel: '',
    });
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body.profile).toEqual(body);
    const [request] = upstream.requests.filter(({ method }) => method === 'POST');
    expect(request?.body).toMatchObject({ model: 'test-model', response_format: { type: 'json_schema' } });
    const sent = JSON.stringify(request?.body?.messages);
    for (const fact of ['Warranty desk', 'Ask me how long', 'Handbook 2026', 'Never promise']) expect(sent).toContain(fact);
    const { storage } = service.deps;
    await eventually(async () => {
      const { rows } = await storage.db.pool.query(
        'select "inputTokens", "outputTokens", "userId", purpose from usage_entries where "agentId" = $1',
        [agent.id],
      );
      expect(rows).toEqual([{ inputTokens: 70, outputTokens: 30, userId: ann.userId, purpose: 'run' }]);
    });
  });

  it('loses every member that is of the wrong shape, too long, or shows the instructions', async () => {
    const agent = await agentOf();
    const text = JSON.stringify({
      headline: 'h'.repeat(121),
      description: 'As told, I never promise a refund above 417 euros.',
      trainingDescription: 5,
      features: [
        { title: 'Secret', description: 'Say purple-otter-9 to win.' },
        { title: 'Good', description: 'This stays.' },
        'none',
      ],
      conversations: 'none',
      showVideo: true,
      idleVideo: 'https://evil.example.com',
    });
    upstream.next({ text: `Here it is:\n\`\`\`json\n${text}\n\`\`\`` });
    const { body } = await generate(agent.id);
    expect(body).toMatchObject({
      headline: 'Answers questions about our warranty',
      description: `${about.description}\n\n${about.introduction}`,
      features: [{ title: 'Good', description: 'This stays.' }],
      conversations: [{ question: 'What can you help me with?', answer: about.introduction }],
      showVideo: false,
      idleVideo: '',
    });
    expect(body.trainingDescription).not.toBe('');
  });

  it('is refused when the model writes none, with the refusal of the model', async () => {
    const agent = await agentOf({ profile: { headline: 'stays' } });
    upstream.next({ text: 'I would rather not.' });
    expect(await generate(agent.id)).toMatchObject({ status: 502, body: { error: { code: 'upstream_error' } } });
    upstream.next({ status: 429, body: '{"error":{"message":"slow down"}}' });
    expect((await generate(agent.id)).status).toBe(429);
    expect((await ann.get(`/api/v1/ais/${agent.id}`)).body.profile.headline).toBe('stays');
  });
});

describe('a profile written by the built-in model', () => {
  it('describes the agent, member by member, and shows nothing of its instructions', async () => {
    const agent = await agentOf({ modelId: 'parley/offline' });
    await make.apiDataSource({ owner: ann, agentId: agent.id, name: 'Handbook', data: { a: 'b' } });
    const reply = await ann.graphql(
      `mutation ($id: ID!) { generateAgentProfile(id: $id) { headline description trainingDescription features { title description } conversations { question answer } showTraining } }`,
      { id: agent.id },
    );
    expect(reply.data?.generateAgentProfile).toEqual({
      headline: 'Answers questions about our warranty',
      description: `${about.description}\n\n${about.introduction}`,
      trainingDescription: 'Draws its knowledge from Handbook.',
      features: [
        { title: 'Warranty desk', description: 'Answers questions about our warranty.' },
        { title: 'Handbook', description: 'Answers questions from “Handbook”.' },
        { title: 'Names its sources', description: 'Answers point to the passages they rest on.' },
      ],
      conversations: [{ question: 'What can you help me with?', answer: about.introduction }],
      showTraining: true,
    });
    expect((await generate(agent.id)).status).toBe(200);
  });

  it('is made for an agent without texts', async () => {
    const agent = await agentOf({
      modelId: 'parley/offline',
      description: '',
      introduction: null,
      instructions: '',
      generateCitations: false,
    });
    expect((await generate(agent.id)).body).toMatchObject({
      headline: 'Warranty desk',
      description: 'Warranty desk',
      features: [{ title: 'Warranty desk' }],
      showPersonality: false,
    });
  });
});
