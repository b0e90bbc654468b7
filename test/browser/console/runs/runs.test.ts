import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import {
  accessibilityFaults,
  checkScreen,
  keepConsolePicture,
  openConsole,
  overflowWidth,
} from '../../../support/browser/console.ts';
import { indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { pricedModel, pricedModelSettings, pricedUsage } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';
import { heldAnswer } from '../../../support/upstream.ts';

const model = pricedModel;
const usage = pricedUsage;
const { service, make, upstream } = await withService('model', { env: await pricedModelSettings() });

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization, name: 'Bob Builder' });

/** An agent that knows what colour bicycles have. */
async function knowingAgent(owner: Person, name: string) {
  const agent = await make.agent({ owner, name, modelId: model, intermediateStepsVisible: true, visibility: 'ORGANIZATION' });
  const source = await make.apiDataSource({
    owner,
    agentId: agent.id,
    name: 'Bicycle facts',
    data: { text: 'Bicycles are green' },
  });
  await indexed(owner, source.id);
  return agent;
}

async function ask(who: Person, agentId: string, prompt: string, members = {}) {
  const chat = await make.chat({ owner: who, agentId, name: prompt });
  const reply = await who.post(`/api/v1/chats/${chat.id}/messages`, { prompt, ...members });
  return { chat, reply };
}

describe.skipIf(!hasBrowser())('the runs', () => {
  it('teach what they are for while nothing ran, and show a run as it begins', async () => {
    const cleo = await make.person({ name: 'Cleo' });
    const { page, problems } = await openConsole(service, cleo, '/runs');
    await page.getByRole('heading', { name: 'No runs yet' }).waitFor();
    await keepConsolePicture(page, 'runs-empty');
    upstream.next({ text: 'Hello', usage });
    await cleo.post('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] });
    const row = page.getByRole('row', { name: /lab\/priced/ });
    await row.waitFor();
    await row.getByText('$0.0012').waitFor();
    expect(problems).toEqual([]);
  });

  it('lead from a question without an answer to the knowledge that mends it', async () => {
    const agent = await knowingAgent(ann, 'Bicycle expert');
    upstream.next({ text: 'I do not know', usage });
    await ask(ann, agent.id, 'Wherefore zebras?');
    const { page } = await openConsole(service, ann, '/runs');
    await page.getByRole('link', { name: 'Questions without an answer' }).click();
    const card = page.getByRole('listitem').filter({ hasText: 'Wherefore zebras?' });
    await card.getByText('Nothing was found').waitFor();
    await checkScreen(page, 'runs-questions');
    await card.getByRole('link', { name: 'Add knowledge' }).click();
    await page.waitForURL(`**/knowledge?new&agent=${agent.id}`);
  });

  it('show the runaway run of a colleague as it begins, and stop it', async () => {
    const agent = await make.agent({ owner: bob, name: 'Endless talker', modelId: model });
    const { page, problems } = await openConsole(service, ann, '/runs');
    await page.getByRole('searchbox', { name: 'Search runs' }).waitFor();
    upstream.next(heldAnswer({ text: ['On and', ' on'] }).script);
    const asked = ask(bob, agent.id, 'Tell me everything');
    const row = page.getByRole('region', { name: 'Running now' }).getByRole('row', { name: /Endless talker/ });
    await row.getByText('Running').waitFor();
    await keepConsolePicture(page, 'runs-running');
    await row.getByRole('link', { name: 'Endless talker' }).click();
    await page.getByText('Only who may read the chat is shown what was said.').waitFor();
    const { page: ofBob } = await openConsole(service, bob, new URL(page.url()).pathname);
    await ofBob.getByText('On and').waitFor();
    await keepConsolePicture(ofBob, 'run-live');
    await page.getByRole('button', { name: 'Stop' }).click();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Stop the run' }).click();
    for (const each of [page, ofBob]) await each.getByText('Stopped', { exact: true }).waitFor();
    await page.goBack();
    await page
      .getByRole('region', { name: 'History' })
      .getByRole('row', { name: /Endless talker.*Stopped/ })
      .waitFor();
    await asked;
    expect(problems).toEqual([]);
  });
});

describe.skipIf(!hasBrowser())('a run', () => {
  it.each(['light', 'dark'] as const)('is a waterfall of its steps in %s colors, from the keyboard', async (scheme) => {
    const agent = await knowingAgent(bob, `Green expert ${scheme}`);
    const memory = { id: 'call_1', name: 'remember', arguments: JSON.stringify({ text: 'likes green', scope: 'user' }) };
    upstream.next({ toolCalls: [memory], usage }, { text: 'They are green.', usage });
    const prompt = 'Which colour has a bicycle?';
    await ask(bob, agent.id, prompt, { tools: [{ type: 'memory' }] });
    const { page, problems } = await openConsole(service, bob, `/runs?search=${encodeURIComponent(agent.name)}`, { scheme });
    await page.getByRole('link', { name: agent.name, exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: agent.name }).waitFor();
    const steps = page.getByRole('list', { name: 'Steps' });
    await steps.getByText('remember', { exact: true }).waitFor();
    for (const name of [/Search of knowledge: 1 passage/, /remember/]) {
      await steps.locator('summary').filter({ hasText: name }).focus();
      await page.keyboard.press('Enter');
    }
    await page.getByText('"likes green"').waitFor();
    await page.getByRole('link', { name: 'Bicycle facts' }).waitFor();
    await page.getByText('$0.0024').waitFor();
    await checkScreen(page, `run-${scheme}`);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await overflowWidth(page)).toBe(0);
    await keepConsolePicture(page, `run-phone-${scheme}`);
    await page.goto(`${service.url}/runs?status=COMPLETED&since=2020-01-01`);
    await page.getByRole('row', { name: new RegExp(agent.name) }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `runs-phone-${scheme}`);
    expect(problems).toEqual([]);
  });

  it('says in words why it failed, and what does not exist', async () => {
    const agent = await make.agent({ owner: ann, name: 'Unlucky', modelId: model });
    upstream.next({ status: 400, body: JSON.stringify({ error: { message: 'no' } }) });
    await ask(ann, agent.id, 'Hi');
    const { page } = await openConsole(service, ann, '/runs?status=FAILED');
    await page.getByRole('link', { name: 'Unlucky' }).click();
    await page.getByRole('alert').filter({ hasText: 'refused the request' }).first().waitFor();
    await keepConsolePicture(page, 'run-failed');
    await page.goto(`${service.url}/runs/run_nothing`);
    await page.getByRole('heading', { name: 'There is no such run' }).waitFor();
  });
});
