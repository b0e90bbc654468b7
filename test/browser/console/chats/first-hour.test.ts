import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { keepConsolePicture, openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

/**
 * The first hour of a person who comes from LibreChat with an export. It is a test, and the film of docs/console.md too: with
 * BROWSER_PICTURES=docs/pictures it takes the pictures of that page.
 */
const { service, make, upstream } = await withService('model');
const organization = await make.organization();
const ann = await make.person({ name: 'Ann Example', organization });
const owner = await make.person({ name: 'Bob Example', organization });
const description = 'Answers questions about our workshop.';
await make.agent({ owner, name: 'Workshop', description, visibility: 'ORGANIZATION', modelId: 'openai/test-model' });
const input = {
  ...{ name: 'Reply to a customer', command: 'reply', visibility: 'ORGANIZATION' },
  text: 'Write a {{tone: friendly | short | formal = friendly}} reply to {{customer}}: {{what to say}}',
};
await owner.graphql('mutation ($input: CreatePromptInput!) { createPrompt(input: $input) { id } }', { input });

const said = [
  [
    'When should I change to summer tyres?',
    'As a rule of thumb: **from Easter to October**, when nights stay above 7 °C.',
    'When it is warmer than 7 °C for a week, also at night.',
  ],
  ['How do I store the winter tyres?', 'Clean, dry, dark and cool. Mark where each was; rims may lie on each other.', undefined],
] as const;

/** What LibreChat exports of a conversation, with a second answer to the first question. */
function exported(): string {
  const begun = Date.parse('2026-03-28T09:00:00Z');
  const messages: object[] = [];
  let parentMessageId = '00000000-0000-0000-0000-000000000000';
  const add = (text: string, isCreatedByUser: boolean, parent: string) => {
    const messageId = `m${messages.length}`;
    const createdAt = new Date(begun + messages.length * 60_000).toISOString();
    messages.push({
      messageId,
      parentMessageId: parent,
      createdAt,
      isCreatedByUser,
      text,
      model: isCreatedByUser ? null : 'gpt-4o',
      sender: '',
    });
    return messageId;
  };
  for (const [question, answer, other] of said) {
    const asked = add(question, true, parentMessageId);
    if (other !== undefined) add(other, false, asked);
    parentMessageId = add(answer, false, asked);
  }
  const head = {
    conversationId: 'tyres',
    endpoint: 'openAI',
    title: 'Summer tyres',
    branches: true,
    recursive: false,
    options: { model: 'gpt-4o' },
  };
  return JSON.stringify({ ...head, messages });
}

describe.skipIf(!hasBrowser())('the first hour of who comes from LibreChat', () => {
  it('brings the chats, goes on with one, and uses a prompt of a colleague', async () => {
    const { page, problems } = await openConsole(service, ann);
    await page.getByRole('heading', { name: 'Workshop' }).waitFor();
    await page.getByRole('link', { name: 'Import chats from elsewhere' }).waitFor();
    await keepConsolePicture(page, 'first-hour-1-start');
    await page.getByRole('link', { name: 'Import chats from elsewhere' }).click();
    await page.getByText('Where do I get the file?').click();
    const file = { name: 'librechat-summer-tyres.json', mimeType: 'application/json', buffer: Buffer.from(exported()) };
    await page.getByLabel('Exported file').setInputFiles(file);
    await keepConsolePicture(page, 'first-hour-2-file');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const row = page.getByRole('listitem', { name: file.name });
    await row.getByText('1 chat with 5 messages imported.').waitFor();
    await page.getByText('Where do I get the file?').click();
    await keepConsolePicture(page, 'first-hour-3-report');
    await row.getByRole('link', { name: 'Open the chats' }).click();
    await page.getByRole('navigation', { name: 'Chats' }).getByRole('link', { name: 'Summer tyres' }).click();
    await page.getByText('Clean, dry, dark and cool.').waitFor();
    upstream.next({ text: 'Yes, in our workshop: we clean, mark and store a set of four for you until autumn.' });
    await page.getByRole('textbox', { name: 'Message' }).fill('Can you store them for me?');
    await page.keyboard.press('Enter');
    await page.getByText('we clean, mark and store').waitFor();
    await page.getByText('gpt-4o').first().waitFor();
    const inOrder = await page.getByRole('article').allInnerTexts();
    const words = inOrder.flatMap((text) => /Easter|Clean|store a set/.exec(text) ?? []);
    expect(words).toEqual(['Easter', 'Clean', 'store a set']);
    await page.getByText('The import has begun.').waitFor({ state: 'detached' });
    await keepConsolePicture(page, 'first-hour-4-go-on');
    await page.getByRole('textbox', { name: 'Message' }).fill('/re');
    await page.getByRole('option', { name: /Reply to a customer/ }).waitFor();
    await keepConsolePicture(page, 'first-hour-5-prompt');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Reply to a customer' });
    await dialog.getByLabel('customer').fill('Ms Keller');
    await dialog.getByLabel('what to say').fill('Her tyres are stored, and it costs 40 € a season.');
    await keepConsolePicture(page, 'first-hour-6-variables');
    await dialog.getByRole('button', { name: 'Put it in the box' }).click();
    await dialog.waitFor({ state: 'detached' });
    const text = await page.getByRole('textbox', { name: 'Message' }).inputValue();
    expect(text).toBe('Write a friendly reply to Ms Keller: Her tyres are stored, and it costs 40 € a season.');
    expect(problems).toEqual([]);
  });
});
