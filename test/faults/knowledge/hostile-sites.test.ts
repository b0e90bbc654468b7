import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { html, type SitePage, startSite } from '../../fixtures/upstreams/site.ts';
import { longestTurnMs } from '../../support/processes/busy-turns.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

/** Other work of the service waits no longer than this, in time of the processor. */
const turnMaxMs = 1_000;

const { make } = await withService('plain', { env: { EGRESS_ALLOW: '127.0.0.1', EXTRACT_TIMEOUT_MS: '5000' } });
const site = await startSite();
afterEach(() => site.reset());
afterAll(() => site.close());

const page = (body: string | Buffer, contentType = 'text/html'): SitePage => ({ body, headers: { 'content-type': contentType } });
const packed = (text: string): SitePage => page(gzipSync(text), 'application/gzip');
const times = (text: string, count: number) => text.repeat(count);

/** Reads the site as a source, to the end of its run. */
async function readSite(data: object = {}): Promise<number> {
  const ann = await make.person();
  const agent = await make.agent({ owner: ann });
  return longestTurnMs(async () => {
    const input = { url: `${site.url}/`, dataRefreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [], ...data };
    const { body } = await ann.post(`/api/v1/ais/${agent.id}/data-sources/web-url`, input);
    expect(body).toMatchObject({ type: 'WEB_URL' });
    await eventually(async () => {
      const [run] = (await ann.get(`/api/v1/data-sources/${body.id}/runs`)).body.data;
      expect(run?.endedAt).toEqual(expect.any(String));
    });
  });
}

describe('the service goes on with other work while it reads', () => {
  it.each<[name: string, pages: Readonly<Record<string, SitePage | string>>]>([
    ['a page of comments', { '/': page(times('<!---->', 60)) }],
    ['a page of comments that nobody typed', { '/': page(times('<!---->', 60), 'application/octet-stream') }],
    ['a page of elements that stay open', { '/': page(times('<a><b>', 200_000)) }],
    [
      'a page of different elements that stay open',
      { '/': page(Array.from({ length: 60_000 }, (_, index) => `<x${index}>`).join('')) },
    ],
    ['a page of exclamation marks', { '/': html('Marks', times('!', 100_000)) }],
    [
      'a page of full stops and a page of brackets',
      { '/': html('Stops', times('.', 100_000), ['/b']), '/b': html('B', times('[', 100_000)) },
    ],
    ['a page of blank lines', { '/': page(`x${times('\n', 200_000)}y`, 'text/plain'), '/a': 'x' }],
    [
      'a sitemap of elements that stay open, packed',
      { '/': html('Start', 'Text.'), '/sitemap.xml': packed(`<urlset>${times('<a>', 500_000)}`) },
    ],
    ['a sitemap of one long line, packed', { '/': html('Start', 'Text.'), '/sitemap.xml': packed(times('http://', 2_000_000)) }],
    ['a robots.txt of colons', { '/': html('Start', 'Text.'), '/robots.txt': page(times(':', 400_000), 'text/plain') }],
    [
      'a robots.txt of names and rules',
      {
        '/': html('Start', 'Text.'),
        '/robots.txt': page(times('User-agent: a\n', 10_000) + times('Disallow: /*a*a$\n', 20_000), 'text/plain'),
      },
    ],
    ['a head of links', { '/': { ...page('<p>Text.</p>'), headers: { 'content-type': 'text/html', link: times('<', 8_000) } } }],
  ])('%s', async (_name, pages) => {
    for (const [path, shown] of Object.entries(pages)) site.set(path, shown);
    expect(await readSite()).toBeLessThan(turnMaxMs);
  });

  it('a page of 4,000 links beside a hundred patterns', async () => {
    const links = Array.from({ length: 4_000 }, (_, index) => `/${times('a', 1_500)}${index}`);
    site.set('/', html('Links', 'Text.', links));
    const includeUrlGlobs = Array.from({ length: 100 }, (_, index) => `${site.url}/${times('*a', 20)}${index}b`);
    const longestMs = await readSite({ includeUrlGlobs: [...includeUrlGlobs, `${site.url}/`].slice(1), maxPages: 3 });
    expect(longestMs).toBeLessThan(turnMaxMs);
  });
});

describe('messages', () => {
  it.each([
    ['addresses with marks behind them', `http://a/${times('_', 80_000)}x`],
    ['brackets', times('[', 60_000)],
    ['exclamation marks', times('!', 60_000)],
    ['comments that never end', times('<!--', 20_000)],
    ['names of secrets', `Bearer${times(' ', 25_000)}`],
    ['quotation marks', times('“', 60_000)],
  ])('of %s keep nobody waiting', async (_name, prompt) => {
    const ann = await make.person();
    const agent = await make.agent({ owner: ann });
    const longestMs = await longestTurnMs(async () => {
      const chat = await make.chat({ owner: ann, agentId: agent.id });
      const { status } = await ann.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
      expect(status).toBeLessThan(500);
    });
    expect(longestMs).toBeLessThan(turnMaxMs);
  });
});
