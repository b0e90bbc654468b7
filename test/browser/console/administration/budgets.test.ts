import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { startMeaningServer } from '../../../support/knowledge/embedding-server.ts';
import { addFile, indexed } from '../../../support/knowledge/knowledge.ts';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { pricedModelSettings, pricedUsage } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';

const meaning = await startMeaningServer();
const { service, make, upstream } = await withService('model', {
  env: { ...(await pricedModelSettings()), OPENAI_BASE_URL: meaning.url, EMBEDDING_MODEL: 'openai/first' },
});
const hasVectors = service.deps.storage.knowledge.embeddings !== undefined;

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId }, name: 'Bob Builder' });

afterAll(() => meaning.close());

/** An answer that costs $0.0012. */
async function ask(who: Person): Promise<number> {
  upstream.next({ text: 'Hello', usage: pricedUsage });
  const messages = [{ role: 'user', content: 'Hi' }];
  return (await who.post('/api/v1/chat/completions', { model: 'lab/priced', messages, max_tokens: 16 })).status;
}

describe.skipIf(!hasBrowser())('budgets in the console', () => {
  it('are set, changed and deleted, and say what is used of them', async () => {
    const { page, problems } = await openConsole(service, ann, '/administration/budgets');
    await page.getByText('No budgets yet').waitFor();
    await page.getByRole('button', { name: 'New budget' }).click();
    const dialog = page.getByRole('dialog', { name: 'New budget' });
    await dialog.getByRole('combobox', { name: 'Whose use it bounds' }).selectOption('Person');
    await dialog.getByRole('combobox', { name: 'Begins again' }).selectOption('Each day');
    await dialog.getByRole('spinbutton', { name: 'Most in USD' }).fill('0.5');
    const save = dialog.getByRole('button', { name: 'Save' });
    // A person is chosen once the names are there.
    await eventually(async () => {
      await dialog.getByRole('combobox', { name: 'Person' }).fill('');
      await dialog.getByRole('combobox', { name: 'Person' }).fill('Bob Builder');
      expect(await save.isEnabled()).toBe(true);
    });
    await checkScreen(page, 'budgets-form');
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    const bar = page.getByRole('progressbar', { name: 'Person Bob Builder' });
    await bar.waitFor();
    await page.getByText('$0.00 of $0.50 a day').waitFor();
    expect(await ask(bob)).toBe(200);
    await eventually(async () => {
      await page.reload();
      await page.getByText('$0.0012 of $0.50 a day').waitFor({ timeout: 2_000 });
    }, 15_000);
    await page.getByRole('button', { name: 'Change' }).click();
    const change = page.getByRole('dialog', { name: 'Change the budget' });
    await change.getByRole('spinbutton', { name: 'Most in USD' }).fill('0.0012');
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Used up').waitFor();
    expect(await ask(bob)).toBe(429);
    await checkScreen(page, 'budgets');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog', { name: 'Delete the budget?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No budgets yet').waitFor();
    expect(await ask(bob)).toBe(200);
    expect(problems).toEqual([]);
  });

  it('begin by the clock that the organization sets', async () => {
    const { page } = await openConsole(service, ann, '/administration/budgets');
    const zone = page.getByRole('combobox', { name: 'Days and months begin by the clock of' });
    await zone.fill('Mars/Olympus');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('IANA').first().waitFor();
    await zone.fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The time zone is changed.').waitFor();
    const { data } = await ann.graphql('{ viewer { organization { timeZone } } }');
    expect(data.viewer.organization.timeZone).toBe('Europe/Berlin');
  });

  it('can be read in dark colors on a telephone in German, by its owner on the account page, and by administrators alone', async () => {
    const input = { subject: 'USER', subjectId: bob.userId, period: 'MONTH', unit: 'TOKENS', limit: 100_000 };
    expect((await ann.put('/api/v1/admin/budgets', input)).status).toBe(200);
    const view = { scheme: 'dark', width: 390, locale: 'de-DE' } as const;
    const { page } = await openConsole(service, ann, '/administration/budgets', view);
    await page.getByRole('progressbar', { name: 'Person Bob Builder' }).waitFor();
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, 'budgets-phone-dark');
    const { page: account } = await openConsole(service, bob, '/account', { width: 390 });
    await account.getByRole('heading', { name: 'Your budgets' }).waitFor();
    await account.getByRole('progressbar', { name: 'You' }).waitFor();
    expect(await accessibilityFaults(account)).toEqual([]);
    const { page: member } = await openConsole(service, bob, '/administration/budgets');
    await member.getByText('Only administrators see this').waitFor();
  });

  it.runIf(hasVectors)('say on the page of a source why its vectors wait, and when they go on', async () => {
    const owner = await make.person({ organization: { id: ann.orgId, tenantId: ann.tenantId } });
    const input = { subject: 'USER', subjectId: owner.userId, period: 'DAY', unit: 'TOKENS', limit: 0 };
    const { body: budget } = await ann.put('/api/v1/admin/budgets', input);
    const agent = await make.agent({ owner });
    const { body: source } = await addFile(owner, agent.id, 'note.txt', 'The airship of the director.');
    await indexed(owner, source.id);
    const vectors = async () => (await owner.get(`/api/v1/data-sources/${source.id}`)).body.vectors;
    await eventually(async () => expect((await vectors()).errorCode).toBe('BUDGET_REACHED'));
    const { page } = await openConsole(service, owner, `/knowledge/${source.id}`);
    await page.getByText(`The budget ${budget.id} of the person ${owner.userId}`).waitFor();
    await page.getByText(/it begins again at .* Vectors are made again once it has room/).waitFor();
    await checkScreen(page, 'budgets-source');
    const { page: german } = await openConsole(service, owner, `/knowledge/${source.id}`, { locale: 'de-DE', width: 390 });
    await german.getByText(/Ein Budget ist aufgebraucht\. Es geht von selbst weiter/).waitFor();
    expect(await overflowWidth(german)).toBe(0);
    await ann.put('/api/v1/admin/budgets', { ...input, limit: 100_000 });
    await eventually(async () => expect(await vectors()).toMatchObject({ missingCount: 0, errorCode: null }));
    await page.reload();
    await page.getByText('Words and meaning').waitFor();
    expect(await page.getByText(/it begins again at/).count()).toBe(0);
  });
});
