import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addTraps, html, type Site, startSite } from '../../../fixtures/upstreams/site.ts';
import { crawler, existingItemsOf } from '../../../support/knowledge/crawls.ts';

let site: Site;
let other: Site;
beforeAll(async () => {
  site = await startSite();
  other = await startSite();
});
afterEach(() => {
  site.reset();
  other.reset();
});
afterAll(async () => {
  await site.close();
  await other.close();
});
const { list } = crawler();

/** Pages that link to each other as a tree of three. */
function tree(count: number, folder = '/'): void {
  for (let index = 0; index < count; index += 1) {
    const links = [1, 2, 3].map((child) => index * 3 + child).filter((child) => child < count);
    site.set(
      pathOf(folder, index),
      html(
        `Page ${index}`,
        `Text number ${index}.`,
        links.map((child) => pathOf(folder, child)),
      ),
    );
  }
}
const pathOf = (folder: string, index: number) => (index === 0 ? folder : `${folder}page-${index}`);

describe('a crawl', () => {
  it('lists the pages below its address, breadth first, with title, address and content', async () => {
    tree(13, '/docs/');
    site.set('/docs/', html('Start', 'Hello.', ['/docs/page-1', 'page-2#part', '/elsewhere', other.url, 'mailto:a@b.c']));
    site.set('/elsewhere', html('Elsewhere', 'Not below.'));
    const listing = await list({ url: `${site.url}/docs/` });
    expect(listing.end).toMatchObject({ isComplete: true });
    expect(listing.end).not.toHaveProperty('bound');
    expect(listing.paths()).toEqual(
      ['/docs/', ...[1, 2, 4, 5, 6, 7, 8, 9].map((index) => `/docs/page-${index}`), '/docs/page-12'].filter(
        (path) => path !== '/docs/page-12',
      ),
    );
    expect(listing.items[0]).toMatchObject({
      uniqueId: `${site.url}/docs/`,
      url: `${site.url}/docs/`,
      name: 'Start',
      mimeType: 'text/html',
    });
    expect(Buffer.from(listing.items[0]?.content ?? []).toString()).toContain('Hello.');
    expect(listing.progress).toContain(`${site.url}/docs/page-2`);
    const order = site.paths().filter((path) => path.startsWith('/docs/page'));
    expect(order.indexOf('/docs/page-2')).toBeLessThan(order.indexOf('/docs/page-7'));
    expect(other.requests).toEqual([]);
    expect(site.mostAtOnce).toBeLessThanOrEqual(2);
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^Parley\/\d/);
  });

  it('asks again with what it knows: unchanged pages are not sent, changed, new and deleted ones are found', async () => {
    tree(13);
    const first = await list({ url: `${site.url}/` });
    const known = existingItemsOf(first);
    site.requests.length = 0;
    site.set('/page-4', html('Page 4', 'New text.'));
    site.set('/page-2', html('Page 2', 'Text number 2.', ['/page-7', '/page-9', '/fresh']));
    site.set('/fresh', html('Fresh', 'Just written.'));
    site.delete('/page-9', 410);
    const second = await list({ url: `${site.url}/` }, { known, state: first.end?.state });
    expect(second.paths()).toEqual(['/fresh', '/page-2', '/page-4']);
    expect(second.unchangedIds).toHaveLength(9);
    expect(second.goneIds).toEqual([`${site.url}/page-9`]);
    expect(second.end?.isComplete).toBe(true);
    expect(site.requests.filter(({ status }) => status === 304)).toHaveLength(9);
    // The same text with another link: the key is that of the indexed content.
    const before = first.items.find(({ uniqueId }) => uniqueId.endsWith('/page-2'));
    const after = second.items.find(({ uniqueId }) => uniqueId.endsWith('/page-2'));
    expect(after?.changeKey).toBe(before?.changeKey);
    const forced = await list({ url: `${site.url}/` }, { known, isForced: true });
    expect(forced.items).toHaveLength(12);
    expect(forced.items.every(({ content }) => content !== undefined)).toBe(true);
  });

  it('sees that a page without ETag is as it was by its text, whatever its menus and scripts say', async () => {
    const page = (noise: string) => ({
      body: `<html><title>News</title><script>x=${noise}</script><nav>${noise}</nav><article>What happened.</article></html>`,
      hasEtag: false,
    });
    site.set('/', page('1'));
    const first = await list({ url: site.url });
    site.set('/', page('2'));
    const second = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect(second.items).toMatchObject([{ changeKey: first.items[0]?.changeKey }]);
    expect(second.items[0]).not.toHaveProperty('content');
    site.set('/', { body: '<title>News</title><article>What happened since.</article>', hasEtag: false });
    const third = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect(third.items[0]?.changeKey).not.toBe(first.items[0]?.changeKey);
  });

  it('lists a page once, whatever the parameters, also when the page itself was not sent again', async () => {
    site.set('/', html('Shop', 'Open.', ['/list', '/list?view=a', '/list?view=b']));
    for (const path of ['/list', '/list?view=a', '/list?view=b']) site.set(path, html('List', 'All things.'));
    const first = await list({ url: site.url });
    const second = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect([first.paths(), second.paths(), second.unchangedIds.length]).toEqual([['/', '/list'], [], 2]);
  });

  it('lists the address without parameters, also when another one answers first', async () => {
    site.set('/', html('Shop', 'Open.', ['/list', '/list?view=a', '/list?view=b']));
    for (const path of ['/list?view=a', '/list?view=b']) site.set(path, html('List', 'All things.'));
    const holdList = () => {
      const { promise: gate, resolve } = Promise.withResolvers<void>();
      site.set('/list', { body: html('List', 'All things.'), gate });
      site.fault({ match: /view=b/, before: resolve });
    };
    holdList();
    const first = await list({ url: site.url });
    expect([first.paths(), first.goneIds]).toEqual([['/', '/list'], []]);
    // An earlier listing had the other address.
    const url = `${site.url}/list?view=a`;
    const known = new Map(
      existingItemsOf(first)
        .entries()
        .map(([id, item]) => (id.endsWith('/list') ? [url, { ...item, uniqueId: url }] : [id, item])),
    );
    holdList();
    const second = await list({ url: site.url }, { known });
    expect([second.paths(), second.goneIds]).toEqual([['/list'], [url]]);
    expect(second.unchangedIds).not.toContain(url);
  });

  it('does not ask conditionally for a page whose last content was not indexed', async () => {
    site.set('/', html('A', 'One.'));
    const first = await list({ url: site.url });
    const [[id, item] = ['', undefined]] = existingItemsOf(first);
    if (item === undefined) throw new Error('nothing was listed');
    const second = await list({ url: site.url }, { known: new Map([[id, { ...item, changeKey: 'older' }]]) });
    expect(second.items[0]?.content).toBeDefined();
  });

  it.each([
    ['maxPages', { maxPages: 5 }, 'maxPages (5 pages)'],
    ['maxMemory', { maxMemory: 1 }, 'maxMemory (1 MB)'],
  ])('ends well at %s', async (name, limits, bound) => {
    tree(40);
    if (name === 'maxMemory') site.set('/page-1', html('Big', 'word '.repeat(400_000)));
    const listing = await list({ url: site.url, ...limits });
    expect(listing.error).toBeUndefined();
    expect(listing.end).toMatchObject({ isComplete: false, bound });
    expect(listing.items.length).toBeGreaterThan(0);
    if (name === 'maxPages') expect(listing.items).toHaveLength(5);
  });

  it('ends well at timeout, with what it has read', async () => {
    tree(40);
    const never = new Promise<void>(() => {});
    site.set('/page-3', { body: 'x', gate: never });
    const patient = crawler({}, { requestTimeoutMs: 600_000 });
    // A busy machine may read nothing in the first times.
    for (const timeout of [0.2, 1, 5, 25]) {
      const listing = await patient.list({ url: site.url, timeout });
      expect(listing.error).toBeUndefined();
      expect(listing.end).toMatchObject({ isComplete: false, bound: `timeout (${timeout} seconds)` });
      expect(listing.paths()).not.toContain('/page-3');
      if (listing.items.length > 0) return;
    }
    expect.fail('nothing was read');
  });

  it('is complete where the pages are exactly as many as maxPages', async () => {
    tree(5);
    const { end, items } = await list({ url: site.url, maxPages: 5 });
    expect([end?.isComplete, end?.bound, items.length]).toEqual([true, undefined, 5]);
  });

  it('finds deleted pages of a bounded crawl, also when nothing leads there any more', async () => {
    tree(40);
    const first = await list({ url: site.url, maxPages: 10 });
    // The pages that are read first lead on; of them, the last one is a leaf.
    const leaf = first
      .paths()
      .map((path) => Number(/\d+$/.exec(path)?.[0] ?? 0))
      .reduce((a, b) => Math.max(a, b));
    const parent = Math.floor((leaf - 1) / 3);
    site.set(`/page-${parent}`, html(`Page ${parent}`, 'Leads nowhere.'));
    site.delete(`/page-${leaf}`);
    const second = await list({ url: site.url, maxPages: 10 }, { known: existingItemsOf(first), state: first.end?.state });
    expect(second.end?.bound).toBe('maxPages (10 pages)');
    expect(second.goneIds).toEqual([`${site.url}/page-${leaf}`]);
  });

  it('goes on where it was cut off, and lists each page once', async () => {
    tree(60);
    const whole = await list({ url: site.url });
    const part = await list({ url: site.url }, { pagesMax: 2 });
    expect(part.items.length).toBeLessThan(60);
    const rest = await list({ url: site.url }, { place: part.pages.at(-1)?.place });
    expect(rest.end).toMatchObject({ isComplete: true, state: whole.end?.state && { version: 1 } });
    expect([...part.paths(), ...rest.paths()].sort()).toEqual(whole.paths());
    expect(JSON.stringify(rest.pages.at(-1)?.place).length).toBeLessThan(10_000);
  });

  it('stops at once when it is cancelled', async () => {
    tree(60);
    const abort = new AbortController();
    site.set('/page-5', { body: 'x', gate: new Promise(() => {}) });
    site.set('/page-6', {
      body: 'x',
      gate: Promise.resolve().then(() => setTimeout(() => abort.abort(new Error('cancelled')), 100)),
    });
    const { error } = await list({ url: site.url }, { signal: abort.signal });
    expect(error).toEqual(new Error('cancelled'));
  });

  it('keeps a page that does not answer, and its links', async () => {
    tree(13);
    const first = await list({ url: site.url });
    site.fault({ match: /page-1$/, status: 500, times: 9 });
    const second = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect(second.unchangedIds).toHaveLength(13);
    expect(second.end?.isComplete).toBe(true);
    site.fault({ match: /page-1$/, status: 500, times: 9 });
    const third = await list({ url: site.url });
    expect(third.end?.isComplete).toBe(false);
    // Listed without content: it is asked for by itself, and fails with the reason.
    const [page] = third.items.filter(({ uniqueId }) => uniqueId.endsWith('/page-1'));
    expect(page).toMatchObject({ changeKey: null });
    expect([page?.content, page?.skipped]).toEqual([undefined, undefined]);
  });

  it('comes out of every trap', async () => {
    addTraps(site);
    tree(5);
    site.set('/page-4', html('Page 4', 'The door.', ['/traps/']));
    const listing = await list({ url: site.url, maxPages: 500 });
    expect(listing.error).toBeUndefined();
    expect(listing.end).toMatchObject({ isComplete: true });
    expect(listing.paths()).toEqual(expect.arrayContaining(['/page-1', '/page-4', '/traps/', '/traps/session']));
    const count = (part: string) => listing.paths().filter((path) => path.includes(part)).length;
    expect(count('session')).toBeLessThanOrEqual(2);
    expect(count('calendar')).toBeLessThanOrEqual(60);
    expect(count('month')).toBeLessThanOrEqual(60);
    expect(count('loop') + count('chain')).toBe(0);
    expect(listing.items.find(({ uniqueId }) => uniqueId.endsWith('huge'))?.skipped).toMatchObject({ code: 'TOO_LARGE' });
    expect(site.mostAtOnce).toBeLessThanOrEqual(2);
  });
});
