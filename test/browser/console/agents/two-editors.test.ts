import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, keepConsolePicture, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/** Two people change one part of an agent: neither replaces what the other wrote without a word. */
const { service, make } = await withService('model');

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const bob = await make.person({ organization, role: 'ADMIN', name: 'Bob Builder' });

const skills = 'query ($id: ID!) { agent(id: $id) { skills { id name description content enabled } } }';
const updateSkill = 'mutation ($id: ID!, $input: UpdateSkillInput!) { updateSkill(id: $id, input: $input) { id } }';
const deleteSkill = 'mutation ($id: ID!) { deleteSkill(id: $id) { id } }';
const offer = { name: 'Write an offer', description: 'When a customer asks.', content: 'Name the price.\nName the date.' };

async function agentWithSkill(name: string) {
  const agent = await make.agent({ owner: ann, name });
  const create = 'mutation ($id: ID!, $input: CreateSkillInput!) { createSkill(agentId: $id, input: $input) { id } }';
  const { createSkill } = await ann.ask(create, { id: agent.id, input: offer });
  return { id: agent.id, skillId: createSkill.id as string };
}

const box = (page: Page, name: string) => page.getByRole('dialog').getByRole('textbox', { name });
const saveDialog = (page: Page) => page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true });

describe.skipIf(!hasBrowser())('two people who edit a part of an agent', () => {
  it('see what both changed, with the name of the other, and lose nothing', async () => {
    const { id, skillId } = await agentWithSkill('Sales desk');
    const { page, problems } = await openConsole(service, ann, `/agents/${id}/skills`);
    await page.getByRole('button', { name: 'Edit Write an offer' }).click();
    await box(page, 'Instructions').fill('Name the price and the tax.\nName the date.');
    await bob.ask(updateSkill, {
      id: skillId,
      input: { content: 'Name the price in francs.\nName the date.', description: 'When somebody asks for a price.' },
    });
    await saveDialog(page).click();
    await page.getByText('Bob Builder saved “Instructions” while you changed it.').waitFor();
    // What only the other one changed has come, and what was typed is still there.
    expect(await box(page, 'When to use it').inputValue()).toBe('When somebody asks for a price.');
    expect(await box(page, 'Instructions').inputValue()).toBe('Name the price and the tax.\nName the date.');
    expect(await saveDialog(page).isDisabled()).toBe(true);
    await page.getByText('What differs: Instructions').click();
    await page.getByRole('deletion').filter({ hasText: 'Name the price in francs.' }).waitFor();
    await page.getByRole('insertion').filter({ hasText: 'Name the price and the tax.' }).waitFor();
    await checkScreen(page, 'skill-conflict');
    expect((await bob.ask(skills, { id })).agent.skills[0].content).toBe('Name the price in francs.\nName the date.');
    await box(page, 'Instructions').fill('Name the price in francs and the tax.\nName the date.');
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await saveDialog(page).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await bob.ask(skills, { id })).agent.skills).toMatchObject([
      { content: 'Name the price in francs and the tax.\nName the date.', description: 'When somebody asks for a price.' },
    ]);
    expect(problems).toEqual([]);
  });

  it('are not stopped by changes of other parts, and see them', async () => {
    const { id, skillId } = await agentWithSkill('Order desk');
    const { page } = await openConsole(service, ann, `/agents/${id}/skills`);
    await page.getByRole('button', { name: 'Edit Write an offer' }).click();
    await box(page, 'Instructions').fill('By Ann.');
    const create = 'mutation ($id: ID!, $input: CreateSkillInput!) { createSkill(agentId: $id, input: $input) { id } }';
    await bob.ask(create, { id, input: { ...offer, name: 'Check an invoice' } });
    await saveDialog(page).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('switch', { name: 'Use Check an invoice' }).waitFor();
    expect((await ann.ask(skills, { id })).agent.skills.find((skill: { id: string }) => skill.id === skillId).content).toBe(
      'By Ann.',
    );
  });

  it('keep what was typed into a part that the other one deleted', async () => {
    const { id, skillId } = await agentWithSkill('Claims desk');
    const { page } = await openConsole(service, ann, `/agents/${id}/skills`, { width: 390 });
    await page.getByRole('button', { name: 'Edit Write an offer' }).click();
    await box(page, 'Instructions').fill('By Ann.');
    await bob.ask(deleteSkill, { id: skillId });
    await saveDialog(page).click();
    await page.getByText('Bob Builder deleted this while you changed it. What you typed is still here.').waitFor();
    await checkScreen(page, 'skill-deleted');
    expect(await overflowWidth(page)).toBeLessThanOrEqual(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Save as a new one' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await ann.ask(skills, { id })).agent.skills).toMatchObject([{ name: 'Write an offer', content: 'By Ann.' }]);
  });

  it('delete nothing that the other one has just changed', async () => {
    const { id, skillId } = await agentWithSkill('Post desk');
    const { page } = await openConsole(service, ann, `/agents/${id}/skills`);
    await page.getByRole('button', { name: 'Delete Write an offer' }).click();
    await bob.ask(updateSkill, { id: skillId, input: { content: 'By Bob.' } });
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Bob Builder changed “Write an offer” meanwhile: nothing was done.').waitFor();
    await keepConsolePicture(page, 'skill-not-deleted');
    expect((await ann.ask(skills, { id })).agent.skills).toMatchObject([{ content: 'By Bob.' }]);
    // Once it is seen, it can be done.
    await page.getByRole('button', { name: 'Delete Write an offer' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No skills yet' }).waitFor();
  });

  it('meet in tools, inputs, secrets and versions of flows alike', async () => {
    const agent = await make.agent({ owner: ann, name: 'Harbour desk' });
    const { page } = await openConsole(service, ann, `/agents/${agent.id}/tools`);
    const id = agent.id;
    const conflict = (field: string) => page.getByText(`Bob Builder saved “${field}” while you changed it.`);
    const takeTheirs = async () => {
      await page.getByRole('button', { name: 'Take theirs' }).click();
      await saveDialog(page).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    const settings = { clientFunction: { description: 'Opens the lock.', parameters: null } };
    const { createAgentTool } = await ann.ask(
      'mutation ($id: ID!, $input: CreateAgentToolInput!) { createAgentTool(agentId: $id, input: $input) { id } }',
      { id, input: { name: 'open_lock', settings } },
    );
    await page.getByRole('button', { name: 'Edit open_lock' }).click();
    await box(page, 'What it does').fill('Opens the lock for a boat.');
    await bob.ask('mutation ($id: ID!, $input: UpdateAgentToolInput!) { updateAgentTool(id: $id, input: $input) { id } }', {
      id: createAgentTool.id,
      input: { settings: { clientFunction: { description: 'Opens the lock for a ship.', parameters: null } } },
    });
    await saveDialog(page).click();
    await conflict('What it does').waitFor();
    await takeTheirs();
    await page.getByText('Opens the lock for a ship.').waitFor();

    const { createUserInput } = await ann.ask(
      'mutation ($id: ID!, $input: CreateUserInputInput!) { createUserInput(agentId: $id, input: $input) { id } }',
      { id, input: { label: 'Which ship?', variableName: 'ship', settings: { shortText: { isRequired: true } } } },
    );
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Inputs' }).click();
    await page.getByRole('button', { name: 'Edit Which ship?' }).click();
    await box(page, 'Question').fill('Which ship is it?');
    await bob.ask('mutation ($id: ID!, $input: UpdateUserInputInput!) { updateUserInput(id: $id, input: $input) { id } }', {
      id: createUserInput.id,
      input: { label: 'What ship?' },
    });
    await saveDialog(page).click();
    await conflict('Question').waitFor();
    await takeTheirs();
    await page.getByText('What ship?').waitFor();

    const { createAgentSecret } = await ann.ask(
      'mutation ($id: ID!, $input: CreateAgentSecretInput!) { createAgentSecret(agentId: $id, input: $input) { id } }',
      { id, input: { key: 'LOCK', secretType: 'API_KEY', value: 'first' } },
    );
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'Change LOCK' }).click();
    await page.getByRole('dialog').getByLabel('Value', { exact: true }).fill('by-ann');
    await bob.ask('mutation ($id: ID!, $input: UpdateAgentSecretInput!) { updateAgentSecret(id: $id, input: $input) { id } }', {
      id: createAgentSecret.id,
      input: { value: 'by-bob' },
    });
    await saveDialog(page).click();
    // A value changes no member of the draft, so nobody is named; the values are shown to nobody.
    await page.getByText(/saved “Value” while you changed it\./).waitFor();
    await keepConsolePicture(page, 'secret-conflict');
    expect(await page.getByText('What differs').count()).toBe(0);
    await takeTheirs();

    const steps = [{ model: { stepId: 'answer', prompt: 'Answer.' } }];
    const version = { version: 1, active: true, description: 'First', steps };
    const { createFlow } = await ann.ask(
      'mutation ($id: ID!, $input: CreateFlowInput!) { createFlow(agentId: $id, input: $input) { id } }',
      { id, input: { name: 'Lock', enabled: false, versions: [version] } },
    );
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Flows' }).click();
    await page.getByRole('button', { name: 'Edit version 1' }).click();
    await box(page, 'What changed').fill('By Ann');
    await bob.ask('mutation ($id: ID!, $input: UpdateFlowInput!) { updateFlow(id: $id, input: $input) { id } }', {
      id: createFlow.id,
      input: {
        versions: [
          { ...version, description: 'By Bob' },
          { ...version, version: 2, active: false, description: 'More' },
        ],
      },
    });
    await saveDialog(page).click();
    await conflict('What changed').waitFor();
    await page.getByRole('button', { name: 'Keep mine' }).click();
    await saveDialog(page).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const flows = 'query ($id: ID!) { agent(id: $id) { flows { versions { version description } } } }';
    expect((await bob.ask(flows, { id })).agent.flows[0].versions).toEqual([
      { version: 1, description: 'By Ann' },
      { version: 2, description: 'More' },
    ]);
  });
});
