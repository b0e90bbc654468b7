import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { openConsole } from '../../../support/browser/console.ts';
import type { Person } from '../../../support/make.ts';
import { withService } from '../../../support/service.ts';

const { service, make, upstream } = await withService('model');
let ann: Person;
let agentId: string;

beforeAll(async () => {
  ann = await make.person({ role: 'ADMIN', name: 'Ann Example' });
  agentId = (await make.agent({ owner: ann, name: 'Harbour pilot' })).id;
});

describe.skipIf(!hasBrowser())('a file without words', () => {
  it('can be sent, as the first message of a chat and later', async () => {
    upstream.otherwise({ text: 'It is a list.' });
    const { page, problems } = await openConsole(service, ann, `/?agent=${agentId}`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    for (const [index, name] of ['first.txt', 'second.txt'].entries()) {
      const file = { name, mimeType: 'text/plain', buffer: Buffer.from('a, b') };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('list', { name: 'Files of the message' }).getByText(name).waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      await transcript.getByRole('article', { name: 'You' }).getByText(name).waitFor();
      await expect.poll(() => transcript.getByText('It is a list.').count(), { timeout: 20_000 }).toBe(index + 1);
    }
    expect(problems).toEqual([]);
  });
});
