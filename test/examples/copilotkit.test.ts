import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { type ApiServer, startApiServer } from '../support/egress/api-server.ts';
import { eventually } from '../support/processes/eventually.ts';
import { installExample } from '../support/processes/example.ts';
import { withService } from '../support/service.ts';

/** The React kit of CopilotKit, unchanged, against the AG-UI address of an agent. */
const { service, make, upstream } = await withService('model');
const owner = await make.person();
const { key } = await make.withKey(owner, { scopes: ['CHATS:WRITE'] });
const { id: agentId } = await make.agent({ owner, modelId: 'openai/test-model' });
let api: ApiServer;
beforeAll(async () => {
  api = await startApiServer();
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const data = { description: 'Weather', parameters, method: 'GET', url: `${api.url}/{city}`, requireApproval: true };
  expect((await owner.post(`/api/v1/ais/${agentId}/tools`, { name: 'ask_weather', type: 'API_FUNCTION', data })).status).toBe(
    200,
  );
});
beforeEach(() => upstream.reset());
afterAll(() => api.close());
const example = await installExample('copilotkit');
await example.run('build');
const url = await example.start({ PARLEY_URL: service.url, PARLEY_KEY: key, PARLEY_AGENT: agentId }, '--port', '0');

it('is what the recipe of docs/doors.md shows', () => {
  const recipe = readFileSync('docs/doors.md', 'utf8');
  const [, program = 'no recipe'] = /```tsx\n([\s\S]+?)```/.exec(recipe) ?? [];
  const app = ['main', 'desk'].map((name) => readFileSync(`examples/copilotkit/src/${name}.tsx`, 'utf8')).join('\n');
  for (const line of program.split('\n').map((one) => one.trim())) expect(app).toContain(line);
});

describe.skipIf(!hasBrowser())('the page', async () => {
  const { page, problems, origins } = await openPage(url);
  const sees = (text: RegExp) => eventually(async () => expect(await visible(page, 'main')).toMatch(text), 30_000);
  const say = async (text: string) => {
    // An answer is on the page before its run has ended, and Enter does nothing while the chat is not ready. The button shows both: it stops a run that
    // goes on, and with a text it can be pressed once the chat is ready.
    await page.waitForSelector('[data-testid="copilot-send-button"]:disabled');
    await page.type('main textarea', text);
    await page.waitForSelector('[data-testid="copilot-send-button"]:enabled');
    await page.keyboard.press('Enter');
  };
  const asked = (index: number) => JSON.stringify(upstream.requests.filter(({ method }) => method === 'POST')[index]?.body);

  it('streams an answer', async () => {
    upstream.next({ text: ['Good', ' morning', ', Ann.'], chunkDelayMs: 20 });
    await say('Hello');
    await sees(/Good morning, Ann\./);
    expect(asked(0)).toContain('set_colour');
  });

  it('has the browser run its tool, which changes the state, and the agent goes on with both', async () => {
    const call = { id: 'call_1', name: 'set_colour', arguments: '{"colour":"lavender"}' };
    upstream.next({ toolCalls: [call] }, { text: 'It suits you.' });
    await say('Make it lavender');
    await sees(/The page is lavender\.[\s\S]*It suits you\./);
    expect(asked(0)).toContain('\\"colour\\":\\"white\\"');
    expect(asked(1)).toContain('\\"colour\\":\\"lavender\\"');
    expect(asked(1)).toContain('The page is lavender now.');
  });

  it('shows the state that the model changes by itself', async () => {
    const call = { id: 'call_state', name: 'update_state', arguments: '{"changes":{"colour":"honeydew"}}' };
    upstream.next({ toolCalls: [call] }, { text: 'Fresh as a melon.' });
    await say('Something greener');
    await sees(/The page is honeydew\.[\s\S]*Fresh as a melon\./);
    expect(asked(0)).toContain('update_state');
    expect(asked(1)).toContain('honeydew');
  });

  it.each([
    ['Approve', 1],
    ['Refuse', 0],
  ])('asks before a tool of the agent is called, and goes on: %s', async (button, calls) => {
    api.reset();
    const call = { id: `call_${button}`, name: 'ask_weather', arguments: '{"city":"Paris"}' };
    upstream.next({ toolCalls: [call] }, { text: `After ${button}.` });
    await say('What is the weather?');
    await sees(/May ask_weather be called\?/);
    expect(api.requests).toHaveLength(0);
    // Not at a point of the screen: the chat still scrolls.
    const place = await page.waitForSelector(`#approval button::-p-text(${button})`);
    await place?.evaluate((element) => (element as HTMLElement).click());
    await sees(new RegExp(`After ${button}\\.`));
    expect(api.requests).toHaveLength(calls);
    await eventually(async () => expect(await page.$('#approval')).toBeNull());
  });

  it('calls nobody but its own server, and has no errors', () => {
    expect([...origins]).toEqual([url]);
    expect(problems).toEqual([]);
  });
});
