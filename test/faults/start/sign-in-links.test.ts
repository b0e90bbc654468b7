import { afterEach, describe, expect, inject, it } from 'vitest';
import { TestBrowser } from '../../support/people/browser.ts';
import { parleyProcess } from '../../support/processes/command-line.ts';
import { killProcesses, startProcess } from '../../support/processes/process.ts';
import { copyOf, emptyPlace } from '../../support/storage/databases.ts';

const printedLink = /http:\S+\/sign-in#link=[\w-]{43}/g;
const key = 'chosen-by-the-operator-40-characters-long';

/** The e-mail address of whom a link signs in at a service. */
async function personOf(url: string, link: string): Promise<string> {
  const browser = new TestBrowser(() => url);
  expect((await browser.signInBy(link)).status).toBe(200);
  return (await browser.viewer()).data.viewer.user.email;
}

describe('a link to sign in by', () => {
  afterEach(killProcesses);

  it('is printed at the first start, at the address of the service, and never again', async () => {
    const empty = await emptyPlace();
    const first = startProcess(empty.env);
    const url = await first.url();
    const [link = '', ...more] = first.output().match(printedLink) ?? [];
    expect(more).toEqual([]);
    expect(new URL(link).origin).toBe(new URL(url).origin);
    expect(await personOf(url, link)).toBe('admin@localhost');
    expect((await new TestBrowser(() => url).signInBy(link)).status).toBe(400);
    await first.kill('SIGTERM');
    const second = startProcess(empty.env);
    await second.url();
    expect(second.output()).not.toContain('#link=');
    await second.kill('SIGTERM');
    await empty.remove();
  });

  it('is made by parley sign-in-link: with a first key that the operator chose, and without a key while the service is stopped', async () => {
    const place = await copyOf(inject('template'));
    const env = { ...place.env, PARLEY_ADMIN_KEY: key };
    const first = startProcess(env);
    const url = await first.url();
    expect(first.output()).not.toContain('#link=');
    expect(first.output()).toContain('npm run -s parley -- sign-in-link');
    const made = await parleyProcess('sign-in-link', { PARLEY_URL: url, PARLEY_API_KEY: key });
    expect([made.code, made.err]).toEqual([0, '']);
    expect(made.out).toMatch(/^http:\S+\/sign-in#link=[\w-]{43}\n$/);
    expect(await personOf(url, made.out.trim())).toBe('admin@localhost');
    await first.kill('SIGTERM');

    const local = await parleyProcess('sign-in-link --local', { ...place.env, PORT: '4871' });
    expect([local.code, local.err]).toEqual([0, '']);
    expect(local.out).toMatch(/^http:\/\/localhost:4871\/sign-in#link=[\w-]{43}\n$/);
    const second = startProcess(env);
    expect(await personOf(await second.url(), local.out.trim())).toBe('admin@localhost');
    await second.kill('SIGTERM');
    await place.remove();
  });
});
