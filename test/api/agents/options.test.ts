import { describe, expect, it } from 'vitest';
import { addFile, indexed } from '../../support/knowledge/knowledge.ts';
import { withService } from '../../support/service.ts';

const { make, upstream } = await withService('model');

const ann = await make.person();

/** The last request to the model. */
function sent() {
  const body = upstream.requests.findLast(({ method }) => method === 'POST')?.body;
  if (body === undefined) throw new Error('the model was not asked');
  return body;
}
const apis = ['a chat', 'a completion'] as const;
async function ask(api: (typeof apis)[number], agentId: string, text: string, more: object = {}) {
  if (api === 'a completion') {
    const body = { model: agentId, messages: [{ role: 'user', content: text }], ...more };
    return ann.post('/api/v1/chat/completions', body);
  }
  const chat = await make.chat({ owner: ann, agentId });
  return ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt: text });
}

describe.each(apis)('the options of an agent, in %s', (api) => {
  it('reach the model: the first value of each', async () => {
    const options = {
      temperature: [0.25, 1.5],
      topP: [0.5],
      topK: [7, 8, 9],
      maxTokens: [321],
      maxInputTokens: [50_000],
      frequencyPenalty: [-0.5],
      presencePenalty: [0],
    };
    const agent = await make.agent({ owner: ann, options });
    expect(agent.options).toEqual(options);
    expect((await ask(api, agent.id, 'Hello')).status).toBe(200);
    expect(sent()).toMatchObject({
      temperature: 0.25,
      top_p: 0.5,
      top_k: 7,
      max_tokens: 321,
      frequency_penalty: -0.5,
      presence_penalty: 0,
    });
  });

  it('are left to the model where they are empty', async () => {
    const agent = await make.agent({ owner: ann, options: { temperature: [], topP: null } });
    await ask(api, agent.id, 'Hello');
    for (const name of ['temperature', 'top_p', 'top_k', 'max_tokens', 'frequency_penalty', 'presence_penalty']) {
      expect(sent()).not.toHaveProperty(name);
    }
  });

  it('bound what the model is given: passages that do not fit are left out', async () => {
    const text = (n: number) =>
      `# Otters ${n}\n\nOtters of kind ${n} hold hands while they sleep. ${'They float on the water. '.repeat(40)}\n`;
    const agent = await make.agent({ owner: ann });
    for (const n of [1, 2, 3])
      await indexed(ann, (await addFile(ann, agent.id, `otters${n}.md`, text(n), 'text/markdown')).body.id);
    const passages = async (maxInputTokens: number[]) => {
      await ann.patch(`/api/v1/ais/${agent.id}`, { options: { maxInputTokens } });
      await ask(api, agent.id, 'What do otters hold while they sleep?');
      const given = JSON.stringify(sent().messages);
      if (maxInputTokens[0] !== undefined) expect(given.length / 4).toBeLessThan(maxInputTokens[0] * 1.2);
      return given.match(/<passage n=/g)?.length ?? 0;
    };
    const whole = await passages([]);
    const some = await passages([700]);
    expect(whole).toBeGreaterThan(1);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(whole);
    expect(await passages([100])).toBe(0);
  });
});

it('older turns of a chat are left out when they do not fit, the question never', async () => {
  const agent = await make.agent({ owner: ann, instructions: 'Be brief.', options: { maxInputTokens: [60] } });
  const chat = await make.chat({ owner: ann, agentId: agent.id });
  const say = (prompt: string) => ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
  await say(`FIRST ${'x'.repeat(150)}`);
  await say('SECOND');
  await say(`THIRD ${'y'.repeat(90)}`);
  const given = JSON.stringify(sent().messages);
  expect(given).toContain('Be brief.');
  expect(given).toContain('THIRD');
  expect(given).not.toContain('FIRST');
});

it('a completion may ask for other values than the agent has, and is told when it is longer than the agent takes', async () => {
  const agent = await make.agent({ owner: ann, options: { temperature: [0.25], maxTokens: [321], maxInputTokens: [20] } });
  await ask('a completion', agent.id, 'Hello', { temperature: 1, max_tokens: 5 });
  expect(sent()).toMatchObject({ temperature: 1, max_tokens: 5 });
  const tooLong = await ask('a completion', agent.id, 'word '.repeat(40));
  expect(tooLong).toMatchObject({ status: 400, body: { error: { code: 'context_length_exceeded', param: 'messages' } } });
});

it.each([
  ['temperature', 2.1],
  ['topP', -0.1],
  ['topK', 1.5],
  ['topK', 1_001],
  ['maxTokens', 0],
  ['maxInputTokens', 100_000_001],
  ['frequencyPenalty', -2.1],
  ['presencePenalty', 2.1],
])('a value out of bounds is refused wherever it stands: %s', async (member, value) => {
  const fine = member.startsWith('max') || member === 'topK' ? 1 : 0.5;
  const agent = await make.agent({ owner: ann });
  const reply = await ann.patch(`/api/v1/ais/${agent.id}`, { options: { [member]: [fine, value] } });
  expect(reply).toMatchObject({ status: 400, body: { error: { param: `options.${member}[1]` } } });
});
