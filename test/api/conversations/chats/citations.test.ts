import { describe, expect, it } from 'vitest';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');

const ann = await make.person();

async function chatWithKnowledge(members: object = {}): Promise<string> {
  const agent = await make.agent({ owner: ann, ...members });
  const source = await make.apiDataSource({
    owner: ann,
    agentId: agent.id,
    name: 'Prices',
    data: { services: [{ name: 'Puncture repair', priceEuro: 15 }] },
  });
  await eventually(async () => {
    const { body } = await ann.get(`/api/v1/data-sources/${source.id}`);
    expect(body.indexStatus).toBe('INDEXED');
  });
  return (await make.chat({ owner: ann, agentId: agent.id })).id;
}
const ask = async (chatId: string, prompt = 'What does a puncture repair cost?') =>
  (await ann.stream(`/api/v1/chats/${chatId}/messages`, { prompt, stream: true })).map(({ data }) => JSON.parse(data));

describe('a chat with an agent that has knowledge', () => {
  it('gives the model the passages and shows what it cites, in the stream, the reply and the transcript', async () => {
    const chatId = await chatWithKnowledge({ intermediateStepsVisible: true });
    upstream.next({ text: ['It costs 15 € [', '1', '] [7].'] });
    const frames = await ask(chatId);
    expect(frames.map(({ type }) => type).filter((type) => type !== 'message.delta')).toEqual([
      'run.started',
      'step',
      'message.started',
      'citation',
      'message.completed',
      'run.completed',
      'done',
    ]);
    expect(frames[1]).toMatchObject({ name: 'retrieve', detail: { passages: 1 } });
    const { citation } = frames.find(({ type }) => type === 'citation');
    expect(citation).toMatchObject({ index: 1, snippet: expect.stringContaining('Puncture repair') });
    const whole = frames.find(({ type }) => type === 'message.completed');
    expect(whole.content).toBe('It costs 15 € [1].');
    expect(whole.content.slice(citation.answerStart, citation.answerEnd)).toBe('[1]');
    expect((await ann.get(`/api/v1/chats/${chatId}`)).body.messages[1]).toMatchObject({
      content: whole.content,
      citations: [citation],
    });
    expect(upstream.requests[0]?.body).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user', content: expect.stringMatching(/^What .*\?\n\n[\s\S]*<passage n="1"/) }],
    });

    upstream.next({ text: 'Still 15 € [1].' });
    const reply = await ann.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'And a puncture repair today?' });
    expect(reply.body).toMatchObject({ message: { content: 'Still 15 € [1].' }, citations: [{ index: 1 }] });
  });

  it('shows no steps and no citations where the agent hides them', async () => {
    const chatId = await chatWithKnowledge({ generateCitations: false });
    upstream.next({ text: 'It costs 15 € [1].' });
    const frames = await ask(chatId);
    expect(frames.map(({ type }) => type)).toEqual([
      'run.started',
      'message.started',
      'message.delta',
      'message.completed',
      'run.completed',
      'done',
    ]);
    expect(frames[3]).toMatchObject({ content: 'It costs 15 €.', citations: [] });
  });

  it('is quoted by the built-in model', async () => {
    const chatId = await chatWithKnowledge({ modelId: 'parley/offline' });
    const frames = await ask(chatId);
    const whole = frames.find(({ type }) => type === 'message.completed');
    expect(whole.content).toMatch(/15.*\[1\]/s);
    expect(whole.citations[0]).toMatchObject({ index: 1 });
  });
});
