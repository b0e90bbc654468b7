import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../support/browser/browser.ts';
import { accessibilityFaults, checkScreen, openConsole } from '../../support/browser/console.ts';
import { withService } from '../../support/service.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

const chat = (name: string) => make.chat({ owner: ann, agentId, name });

describe.skipIf(!hasBrowser())('chats in order', () => {
  it('are archived from the list, found in the archive, and put back', async () => {
    await chat('Winter tyres');
    const { page, problems } = await openConsole(service, ann);
    const list = page.getByRole('navigation', { name: 'Chats' });
    await list.getByRole('link', { name: 'Winter tyres' }).hover();
    await list.getByRole('button', { name: 'More about Winter tyres' }).click();
    await page.getByRole('menuitem', { name: 'Archive' }).click();
    await list.getByRole('link', { name: 'Winter tyres' }).waitFor({ state: 'detached' });
    await list.getByRole('link', { name: 'All chats' }).click();
    await page.getByRole('link', { name: 'Archive' }).click();
    await page.getByRole('list', { name: 'Archived chats' }).getByText('Winter tyres').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Choose Winter tyres' }).check();
    await page.getByRole('button', { name: 'Put back into the list' }).click();
    await page.getByText('Nothing is archived').waitFor();
    await page.getByRole('link', { name: 'Chats', exact: true }).last().click();
    await page.getByRole('list', { name: 'Chats' }).getByText('Winter tyres').waitFor();
    expect(problems).toEqual([]);
  });

  it('are tagged and moved together, and found by tag and project', async () => {
    await chat('Hotel in Rome');
    await chat('Train to Rome');
    await chat('Dentist');
    await ann.post('/api/v1/projects', { name: 'Move to Rome' });
    const { page, problems } = await openConsole(service, ann, '/library');
    for (const name of ['Hotel in Rome', 'Train to Rome']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Tags and project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Add tags' }).fill('travel, rome');
    await dialog.getByRole('combobox', { name: 'Project' }).selectOption('Move to Rome');
    expect(await accessibilityFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('2 chats are changed.').waitFor();
    const rows = page.getByRole('list', { name: 'Chats' }).getByRole('listitem');
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('travel');
    await rows.filter({ hasText: 'Dentist' }).waitFor({ state: 'detached' });
    expect(await rows.count()).toBe(2);
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('');
    await page.getByRole('combobox', { name: 'Project' }).selectOption('Move to Rome');
    await rows.filter({ hasText: 'Dentist' }).waitFor({ state: 'detached' });
    await checkScreen(page, 'library');
    expect(problems).toEqual([]);
  });

  it('are deleted into the bin, restored, and deleted for ever', async () => {
    const bob = await make.person({ name: 'Bob Example' });
    const own = await make.agent({ owner: bob, name: 'Clerk' });
    for (const name of ['First', 'Second']) await make.chat({ owner: bob, agentId: own.id, name });
    const { page, problems } = await openConsole(service, bob, '/library');
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('2 chats are in the bin.').waitFor();
    await page.getByText('No chats yet').waitFor();
    await page.getByRole('link', { name: 'Bin' }).click();
    await page.getByRole('checkbox', { name: 'Choose First' }).check();
    await checkScreen(page, 'bin');
    await page.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('1 chat is restored.').waitFor();
    await page.getByRole('checkbox', { name: 'Choose Second' }).check();
    await page.getByRole('button', { name: 'Delete forever' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete forever' }).click();
    await page.getByText('The bin is empty').waitFor();
    await page.getByRole('navigation', { name: 'Parts of this screen' }).getByRole('link', { name: 'Chats' }).click();
    await page.getByRole('list', { name: 'Chats' }).getByText('First').waitFor();
    expect((await bob.get('/api/v1/chats')).body.data).toHaveLength(1);
    expect(problems).toEqual([]);
  });
});

describe.skipIf(!hasBrowser())('a project', () => {
  it('is made, filled, and its chats are told its instructions', async () => {
    await ann.post('/api/v1/groups', { name: 'Movers', availability: 'EVERYONE', memberEmails: 'mover@example.com' });
    const { page, problems } = await openConsole(service, ann, '/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Name' }).fill('New kitchen');
    await dialog.getByRole('textbox', { name: 'Instructions' }).fill('Answer in centimetres.');
    await dialog.getByRole('button', { name: 'Make the project' }).click();
    await page.getByRole('heading', { name: 'New kitchen' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByRole('checkbox', { name: 'Movers' }).check();
    await dialog.getByRole('checkbox', { name: 'Harbour pilot' }).check();
    await checkScreen(page, 'project-form');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('list', { name: 'Agents of the project' }).getByRole('link', { name: 'Harbour pilot' }).click();
    await page.getByRole('link', { name: 'New kitchen' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('How wide is it?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Transcript' }).getByText('Hello from upstream').waitFor();
    expect(JSON.stringify(upstream.requests.at(-1)?.body)).toContain('Answer in centimetres.');
    await page
      .getByRole('banner')
      .getByRole('link', { name: 'New kitchen' })
      .or(page.locator('header').getByRole('link', { name: 'New kitchen' }))
      .first()
      .click();
    await page.getByRole('list', { name: 'Your chats' }).getByRole('listitem').waitFor();
    await checkScreen(page, 'project');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'Projects' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('that is gone says so', async () => {
    const { page } = await openConsole(service, ann, '/projects/proj_00000000000000000000000000');
    await page.getByText('This project is not there').waitFor();
    const { page: start } = await openConsole(service, ann, '/?project=proj_00000000000000000000000000');
    await start.getByText('This project is not there').waitFor();
  });
});
