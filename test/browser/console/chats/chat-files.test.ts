import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');

const ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;

describe.skipIf(!hasBrowser())('a file without words', () => {
  it('can be sent, as the first message of a chat and later', async () => {
    upstream.otherwise({ text: 'It is a list.' });
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    for (const [index, name] of ['first.txt', 'second.txt'].entries()) {
      const file = { name, mimeType: 'text/plain', buffer: Buffer.from('a, b') };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('list', { name: 'Files of the message' }).getByText(name).waitFor();
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await transcript.getByRole('article', { name: 'You' }).getByText(name).waitFor();
      await expect.poll(() => transcript.getByText('It is a list.').count(), { timeout: 20_000 }).toBe(index + 1);
    }
    expect(problems).toEqual([]);
  });
});

describe.skipIf(!hasBrowser())('a file that is refused', () => {
  it('leaves no empty chat, and holds up no good file', async () => {
    upstream.otherwise({ text: 'It is a list.' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.route('**/graphql', (route) =>
      route.request().postData()?.includes('bad.txt') === true && route.request().postData()?.includes('ChatUpload') === true
        ? route.fulfill({
            json: { data: null, errors: [{ message: 'It is no text.', extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] },
          })
        : route.continue(),
    );
    const files = ['good.txt', 'bad.txt'].map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from('a, b') }));
    const before = (await ann.graphql('{ chats { totalCount } }')).data.chats.totalCount;
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('list', { name: 'Files of the message' }).getByText('It is no text.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Send', exact: true }).isEnabled()).toBe(true);
    expect((await ann.graphql('{ chats { totalCount } }')).data.chats.totalCount).toBe(before);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByRole('article', { name: 'You' }).getByText('good.txt').waitFor();
    await transcript.getByText('It is a list.').waitFor();
    expect(await transcript.getByText('bad.txt').count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser())('a first message whose reply is lost', () => {
  it('stands in its chat, and in the box again', async () => {
    upstream.otherwise({ text: 'It is noted.' });
    const { page } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('ChatSend') !== true) return route.continue();
      await route.fetch();
      await route.abort();
    });
    const box = page.getByRole('textbox', { name: 'Message' });
    await box.fill('Remember the tide');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await expect.poll(() => box.inputValue()).toBe('Remember the tide');
    const { chats } = (await ann.graphql('{ chats(first: 1) { nodes { messages(first: 1) { nodes { content } } } } }')).data;
    expect(chats.nodes[0].messages.nodes).toEqual([{ content: 'Remember the tide' }]);
  });
});
