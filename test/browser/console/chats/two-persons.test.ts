import { afterAll, describe, expect, it } from 'vitest';
import { GoogleDrive } from '../../../fixtures/upstreams/google-drive.ts';
import { googleGroup } from '../../../fixtures/upstreams/google-sharing.ts';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { googleSettings, mirroredSources } from '../../../support/knowledge/mirrored.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

/**
 * Two persons ask one agent the same question about a source whose permissions are mirrored. It is a test, and the film of docs/permissions.md too: with
 * BROWSER_PICTURES=docs/pictures it takes the pictures of that page.
 */
const google = await GoogleDrive.start();
const { service, make, upstream } = await withService('model', { env: googleSettings(google) });
const mirrored = mirroredSources(service, google);
afterAll(() => google.server.close());

const question = 'Which bonus is paid this year?';
const user = (person: Person) => ({ id: `p-${person.userId}`, type: 'user', role: 'reader', emailAddress: person.email });

const organization = await make.organization();
const admin = await make.person({ name: 'Ann Example', organization, role: 'ADMIN' });
const mia = await make.person({ name: 'Mia Sales', organization });
const tom = await make.person({ name: 'Tom Workshop', organization });
await mirrored.verify(mia, tom);
const folder = google.folder('handbook').id;
google.add({
  id: 'sales',
  name: 'Bonus of the sales team.md',
  parents: [folder],
  text: '# Bonus of the sales team\n\nThe sales team is paid a bonus of 8 % of each contract that is signed this year.',
});
google.add({
  id: 'workshop',
  name: 'Bonus of the workshop.md',
  parents: [folder],
  text: '# Bonus of the workshop\n\nThe workshop is paid a bonus of 400 € this year, with the wages of December.',
});
google.sharing.groups.set('sales@acme.example', [{ email: mia.email, id: `p-${mia.userId}`, type: 'USER' }]);
google.share('sales', [googleGroup('sales')]);
google.share('workshop', [user(tom)]);
const description = 'Answers what people ask about their work.';
const look = { visibility: 'ORGANIZATION', intermediateStepsVisible: true, modelId: 'openai/test-model', description };
const agentId = (await make.agent({ owner: admin, name: 'Human resources', ...look })).id;
const connection = await mirrored.connect(admin, 'drive@acme.example');
const sourceId = await mirrored.add(admin, agentId, connection, { id: folder, name: 'Handbook' });

/** Asks the question in a new chat, and opens what the answer cites. */
async function askAs(person: Person, text: string) {
  upstream.next({ text });
  const opened = await openConsole(service, person, `/?agent=${agentId}`);
  const { page } = opened;
  await page.getByRole('textbox', { name: 'Message' }).fill(question);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Source 1/ }).click();
  const sources = page.getByRole('complementary', { name: 'Sources' });
  await sources.getByRole('link', { name: 'Open the document' }).waitFor();
  return { ...opened, sources };
}

describe.skipIf(!hasBrowser())('two persons who ask the same', () => {
  it('are answered from what each of them may open, and the other gets words', async () => {
    const { page: adminPage } = await openConsole(service, admin, `/knowledge/${sourceId}/permissions`);
    await adminPage.getByRole('searchbox', { name: 'Search people' }).fill('Mia');
    await adminPage.getByRole('button', { name: 'Show what Mia Sales can see' }).click();
    await adminPage.getByText('Mia Sales can see 1 document here.').waitFor();
    await adminPage.getByRole('row', { name: 'Bonus of the sales team.md' }).getByText('the group sales@acme.example').waitFor();
    await keepConsolePicture(adminPage, 'two-persons-1-why');

    const asMia = await askAs(mia, 'The sales team is paid **8 %** of each contract [1].');
    await asMia.sources.getByText('8 % of each contract that is signed this year').waitFor();
    await asMia.sources.getByRole('button', { name: /Bonus of the sales team/ }).waitFor();
    expect(await asMia.sources.getByRole('listitem').count()).toBe(1);
    await keepConsolePicture(asMia.page, 'two-persons-2-mia');

    const asTom = await askAs(tom, 'The workshop is paid **400 €** in December [1].');
    await asTom.sources.getByText('400 € this year').waitFor();
    expect(await asTom.sources.getByRole('listitem').count()).toBe(1);
    await keepConsolePicture(asTom.page, 'two-persons-3-tom');
    // What the model was given for each: one document, and not that of the other.
    const prompts = upstream.requests.map(({ body }) => JSON.stringify(body)).filter((text) => text.includes(question));
    expect(prompts.map((text) => [text.includes('8 % of each'), text.includes('400 € this year')])).toEqual([
      [true, false],
      [false, true],
    ]);

    await asMia.sources.getByRole('link', { name: 'Open the document' }).click();
    await asMia.page.getByRole('heading', { level: 1, name: 'Bonus of the sales team.md' }).waitFor();
    await asMia.page.getByText('8 % of each contract').waitFor();
    await keepConsolePicture(asMia.page, 'two-persons-4-document');
    const address = new URL(asMia.page.url());
    await asTom.page.goto(address.href);
    await asTom.page.getByRole('heading', { name: 'There is no such document' }).waitFor();
    await asTom.page.getByText('you may not open it at its source').waitFor();
    await keepConsolePicture(asTom.page, 'two-persons-5-closed');
    expect([...asMia.problems, ...asTom.problems]).toEqual([]);
  });

  it('whose right was taken away keeps the answer, and is told that its source is hidden', async () => {
    upstream.next({ text: 'It is **8 %** of each contract [1].' });
    const { id } = await make.chat({ owner: mia, agentId });
    await mia.post(`/api/v1/chats/${id}/messages`, { prompt: question });
    google.share('sales', []);
    await mirrored.read(sourceId);
    const { page, problems } = await openConsole(service, mia, `/chats/${id}`);
    await page.getByText('of each contract').waitFor();
    await page.getByRole('button', { name: 'Source 1: Hidden from you' }).click();
    const sources = page.getByRole('complementary', { name: 'Sources' });
    await sources.getByText('You may not open this document at its source any more. What the answer says stays.').waitFor();
    expect(await sources.getByRole('link').count()).toBe(0);
    await page.getByText('How this was answered').click();
    await page.getByText('1 passage is hidden from you: you may not open the documents.').waitFor();
    await checkScreen(page, 'two-persons-6-hidden');
    const { data } = await mia.graphql('{ runs(first: 1) { nodes { id } } }');
    await page.goto(`${service.url}/runs/${data.runs.nodes[0].id}`);
    await page
      .getByRole('list', { name: 'Steps' })
      .locator('summary')
      .filter({ hasText: 'Search of knowledge: 1 passage' })
      .click();
    await page.getByText('1 passage is hidden from you: you may not open the documents.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
