import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../support/browser/browser.ts';
import { lowContrast } from '../support/browser/low-contrast.ts';
import { openPage, visible } from '../support/browser/pages.ts';
import { withService } from '../support/service.ts';

const { service } = await withService();

describe.skipIf(!hasBrowser())('/about in Chromium', () => {
  it('shows that the service is ready, and its own address, without a request to anywhere else', async () => {
    const { page, problems, origins } = await openPage(`${service.url}/about`);
    await page.waitForSelector('[data-state="ready"]');
    expect(await visible(page, '#status')).toBe('The service is ready.');
    expect(await visible(page, '#curl')).toContain(`curl ${service.url}/api/v1/chat/completions`);
    expect(problems).toEqual([]);
    expect([...origins]).toEqual([service.url]);
  });
  it('says what is wrong, in words and not only by a color', async () => {
    const answers = [
      [503, { status: 'unavailable', reason: 'storage_full', detail: 'There is no room left on /var/parley.' }],
      [503, { status: 'stopping' }],
      [200, { status: 'ready', degraded: 'slow' }],
    ] as const;
    const shown: (string | undefined)[] = [];
    for (const [status, body] of answers) {
      const { page } = await openPage(`${service.url}/about`, { '/readyz': { status, body: JSON.stringify(body) } });
      await page.waitForSelector('[data-state="down"], [data-state="slow"]');
      shown.push(await visible(page, '#status'));
    }
    expect(shown).toEqual([
      'The service is not available. Its storage is full.',
      'The service is stopping.',
      'The service is ready, but works more slowly than usual.',
    ]);
  });
  it('copies an example', async () => {
    const { page } = await openPage(`${service.url}/about`);
    await page.browserContext().setPermission(service.url, { permission: { name: 'clipboard-write' }, state: 'granted' });
    await page.browserContext().setPermission(service.url, { permission: { name: 'clipboard-read' }, state: 'granted' });
    await page.bringToFront();
    await page.click('[data-copy="python"]');
    await page.waitForFunction(() => document.getElementById('copied')?.textContent === 'Copied.');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(`base_url="${service.url}/api/v1"`);
  });
  it.each(['light', 'dark'] as const)('can be read by everybody in %s colors, on a telephone too', async (scheme) => {
    for (const path of ['/about', '/sign-in', '/manual', '/manual/docs/configuration.md']) {
      const { page, problems } = await openPage(`${service.url}${path}`, {}, scheme);
      for (const width of [1280, 390]) {
        await page.setViewport({ width, height: 844 });
        expect([path, width, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([path, width, width]);
      }
      expect(
        await page.evaluate(() => ['main', 'header', 'nav', 'h1'].map((name) => document.querySelectorAll(name).length > 0)),
      ).toEqual([true, true, true, true]);
      expect([path, await page.evaluate(lowContrast)]).toEqual([path, []]);
      expect(problems).toEqual([]);
    }
  });
  it('has the colors that the reader chose in the console, in place of those of the device', async () => {
    const { page } = await openPage(`${service.url}/about`, {}, 'light');
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await background()).toBe('rgb(255, 255, 255)');
    await page.evaluate(() => localStorage.setItem('parley.theme', 'dark'));
    await page.reload();
    expect(await background()).toBe('rgb(21, 23, 26)');
    await page.goto(`${service.url}/docs`);
    await page.waitForSelector('html.dark-mode .opblock');
    expect(await background()).toBe('rgb(21, 23, 26)');
  });
  it('leads the keyboard past the header, then through every link and button', async () => {
    const { page } = await openPage(`${service.url}/about`);
    await page.keyboard.press('Tab');
    expect(await visible(page, ':focus')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    const reached: (string | undefined)[] = [];
    for (let step = 0; step < 7; step += 1) {
      await page.keyboard.press('Tab');
      reached.push(await visible(page, ':focus'));
    }
    expect(reached).toEqual(['GraphiQL', 'REST reference', 'Manual', 'openapi.json', 'Copy', 'Copy', 'Copy']);
  });
});

describe.skipIf(!hasBrowser())('the first request on the page', () => {
  const example = async (name: string) => {
    const { page } = await openPage(`${service.url}/about`);
    const handle = await page.waitForSelector(`#${name}`);
    return (await handle?.evaluate((element) => element.textContent)) ?? '';
  };
  const run = async (program: string, args: string[]) => {
    const env = { ...process.env, PARLEY_KEY: service.adminKey };
    return (await promisify(execFile)(program, args, { env })).stdout;
  };

  it('runs with curl', async () => {
    const curl = (await example('curl')).replace('<your key>', service.adminKey);
    const reply = JSON.parse(await run('bash', ['-ec', curl]));
    expect(reply.choices[0].message.content).toMatch(/\w/);
  });
  it('runs with the openai package for JavaScript', async () => {
    expect(await run(process.execPath, ['--input-type=module', '-e', await example('javascript')])).toMatch(/\w/);
  });
});
