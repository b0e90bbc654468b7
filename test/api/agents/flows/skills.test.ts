import { describe, expect, it } from 'vitest';
import { flowSurfaces } from '../../../support/runs/flow-surfaces.ts';
import { withService } from '../../../support/service.ts';

/** Skills of agents: instructions that the model gets whole, or reads with use_skill. */
const { make, upstream } = await withService('model');
const surfaces = flowSurfaces(make);
const names = Object.keys(surfaces);

const organization = await make.organization();
const ann = await make.person({ organization });
const bob = await make.person({ organization });

const on = (surface: string) => surfaces[surface] ?? expect.fail(`no surface ${surface}`);
// biome-ignore lint/suspicious/noExplicitAny: what the model was sent, of any shape.
const asked = (index: number): any => upstream.requests[index]?.body;
const system = (index: number): string => asked(index).messages[0].content;
const offered = (index: number) => (asked(index).tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);
const long = `Write like a pirate. ${'Arr, matey. '.repeat(300)}`;

async function agentWith(skills: readonly object[]) {
  const agent = await make.agent({ owner: ann, visibility: 'ORGANIZATION', instructions: 'Be brief.' });
  for (const skill of skills) expect((await ann.post(`/api/v1/ais/${agent.id}/skills`, skill)).status).toBe(200);
  return agent.id as string;
}
const pirate = { name: 'Pirate talk', description: 'For pirates', content: long };
const call = (args: object) => ({ toolCalls: [{ id: 'call_1', name: 'use_skill', arguments: JSON.stringify(args) }] });

describe.each(names)('skills, %s', (surface) => {
  it('are listed, and read on demand; only the model reads the content', async () => {
    const agent = await agentWith([pirate, { name: 'Off', content: long, enabled: false }]);
    upstream.next(call({ name: 'Pirate talk' }), { text: 'Arr!' });
    const { status, text, raw } = await on(surface)(bob, agent, 'Hi');
    expect([status, text]).toEqual([200, 'Arr!']);
    expect(offered(0)).toEqual(['use_skill']);
    expect(system(0)).toMatch(/^Be brief\.\n\n[\s\S]*- Pirate talk: For pirates/);
    expect(system(0)).not.toContain('matey');
    expect(system(0)).not.toContain('Off');
    const told = asked(1).messages.at(-1);
    expect([told.role, told.content.includes('matey')]).toEqual(['tool', true]);
    expect(raw).not.toContain('matey');
  });

  it('answer an unknown name with an error that lists the names', async () => {
    const agent = await agentWith([pirate]);
    upstream.next(call({ name: 'Poet' }), { text: 'Sorry.' });
    expect((await on(surface)(bob, agent, 'Hi')).text).toBe('Sorry.');
    expect(asked(1).messages.at(-1).content).toBe('Error: There is no skill "Poet"; there are "Pirate talk"');
  });

  it('that are few and small are given at once, without the function', async () => {
    const agent = await agentWith([
      { name: 'One', content: 'Begin with Ahoy.' },
      { name: 'Two', content: 'End with Farewell.' },
    ]);
    await on(surface)(bob, agent, 'Hi');
    expect(system(0)).toMatch(/Ahoy[\s\S]*Farewell/);
    expect(offered(0)).toEqual([]);
  });

  it('take the name use_skill from functions of the caller', async () => {
    const agent = await agentWith([pirate]);
    const own = { name: 'use_skill', parameters: { type: 'object', properties: {} } };
    const tools = [surface.startsWith('responses') ? { type: 'function', ...own } : { type: 'function', function: own }];
    const { status, error } = await on(surface)(bob, agent, 'Hi', { tools });
    const param = surface.startsWith('responses') ? 'tools[0].name' : 'tools[0].function.name';
    expect([status, error.code, error.param]).toEqual([400, 'tool_name_conflict', param]);
  });
});

describe('the content of a skill', () => {
  it('goes on counting in later turns, and stands in no transcript, export or item', async () => {
    const agent = await agentWith([pirate]);
    const chat = await make.chat({ owner: bob, agentId: agent });
    upstream.next(call({ name: 'pirate talk' }), { text: 'Arr!' }, { text: 'Aye.' });
    await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'Hi' });
    await bob.post(`/api/v1/chats/${chat.id}/messages`, { prompt: 'And now?' });
    expect(JSON.stringify(asked(2).messages)).toContain('matey');
    const { body: response } = await bob.post('/api/v2/responses', { model: agent, input: 'Hi' });
    const shown = await Promise.all([
      bob.get(`/api/v1/chats/${chat.id}`),
      bob.get(`/api/v1/chats/${chat.id}/export?format=json`),
      bob.get(`/api/v1/chats/${chat.id}/export?format=markdown`),
      bob.get(`/api/v2/responses/${response.id}`),
      bob.get(`/api/v2/responses/${response.id}?stream=true`),
      bob.get(`/api/v1/ais/${agent}/skills`),
    ]);
    for (const { status, body } of shown) {
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('matey');
    }
  });

  it('is offered in plan mode, which carries nothing out, and not against tool_choice', async () => {
    const agent = await agentWith([pirate]);
    await bob.post('/api/v2/responses', { model: agent, input: 'Hi', chat_mode: 'plan' });
    expect(offered(0)).toEqual(['use_skill']);
    const { body } = await bob.post('/api/v2/responses', { model: agent, input: 'Hi', tool_choice: 'none' });
    expect(system(1)).toBe('Be brief.');
    expect(body.warnings).toMatchObject([{ code: 'skill_not_used' }]);
  });
});
