import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { html, type Site, startSite } from '../../../fixtures/upstreams/site.ts';
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
const { list, connector } = crawler();
const start = (...links: string[]) => site.set('/', html('Start', 'Here it begins.', links));

describe('what a site asks for', () => {
  it('obeys allow and disallow of robots.txt', async () => {
    site.set(
      '/robots.txt',
      'User-agent: *\nDisallow: /private/\nAllow: /private/open\nDisallow: /*.tmp$\n\nUser-agent: other\nDisallow: /\n',
    );
    start('/private/a', '/private/open', '/b.tmp', '/c');
    for (const path of ['/private/a', '/private/open', '/b.tmp', '/c']) site.set(path, html(path, `Text of ${path}`));
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/c', '/private/open']);
    expect(site.paths()).not.toContain('/private/a');
  });

  it('takes a line of a sitemap, or one that it does not know, for no end of the names of a group', async () => {
    site.set(
      '/robots.txt',
      `User-agent: parley\nSitemap: ${site.url}/none.xml\n\nHost: example.com\nUser-agent: other\nDisallow: /private/\n`,
    );
    start('/private/a', '/b');
    for (const path of ['/private/a', '/b']) site.set(path, html(path, `Text of ${path}`));
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/b']);
  });

  it('compares escapes of robots.txt and of addresses as the characters that they are', async () => {
    site.set('/robots.txt', 'User-agent: *\nDisallow: /h%69dden\nDisallow: /price%24\nDisallow: /star%2A\nDisallow: /a%2Fb\n');
    const paths = ['/hidden', '/price$', '/star*', '/a/b'];
    start(...paths);
    for (const path of paths) site.set(path, html(path, `Text of ${path}`));
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/a/b']);
  });

  it('reads everything where robots.txt is refused, and nothing where it does not answer', async () => {
    start('/a');
    site.set('/a', html('A', 'Text.'));
    site.set('/robots.txt', { status: 403 });
    const first = await list({ url: site.url });
    expect(first.paths()).toEqual(['/', '/a']);
    site.set('/robots.txt', { status: 503 });
    const second = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect(second.error).toMatchObject({
      code: 'UNREACHABLE',
      isRetryable: false,
      message: expect.stringContaining('robots.txt answered 503'),
    });
    expect(second.pages).toEqual([]);
  });

  it('refuses rules that would take the process its time', async () => {
    site.set('/robots.txt', `User-agent: *\n${`Disallow: /${'*a'.repeat(500)}\n`.repeat(60)}`);
    start();
    expect((await list({ url: site.url })).error).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('leaves crawl-delay between two requests, one after the other', async () => {
    site.set('/robots.txt', 'User-agent: *\nCrawl-delay: 0.2\n');
    start('/a', '/b', '/c');
    for (const path of ['/a', '/b', '/c']) site.set(path, html(path, `Text of ${path}`));
    const before = performance.now();
    const { items } = await list({ url: site.url });
    expect(items).toHaveLength(4);
    expect(performance.now() - before).toBeGreaterThan(600);
  });

  it('honours noindex and nofollow of pages and replies, and takes pages back', async () => {
    start('/meta', '/header', '/other-bot', '/nofollow');
    site.set('/meta', html('Meta', 'Not me.', ['/behind'], '<meta name="robots" content="noindex">'));
    site.set('/header', { body: html('Header', 'Nor me.'), headers: { 'x-robots-tag': 'noindex' } });
    site.set('/other-bot', { body: html('Other', 'But me.'), headers: { 'x-robots-tag': 'otherbot: noindex' } });
    site.set('/nofollow', html('Nofollow', 'Me too.', ['/unseen'], '<meta name="parley" content="nofollow">'));
    site.set('/behind', html('Behind', 'Found.'));
    site.set('/unseen', html('Unseen', 'Not found.'));
    const first = await list({ url: site.url });
    expect(first.paths()).toEqual(['/', '/behind', '/nofollow', '/other-bot']);
    site.set('/other-bot', html('Other', 'But me.', [], '<meta name="robots" content="none">'));
    const second = await list({ url: site.url }, { known: existingItemsOf(first) });
    expect(second.goneIds).toEqual([`${site.url}/other-bot`]);
  });

  it('waits as long as a host asks, and reads on', async () => {
    start('/a', '/b');
    for (const path of ['/a', '/b']) site.set(path, html(path, `Text of ${path}`));
    site.fault({ match: /^\/a$/, status: 429, headers: { 'retry-after': '1' } });
    const before = performance.now();
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/a', '/b']);
    expect(performance.now() - before).toBeGreaterThan(950);
  });

  it('comes back later when a host asks for a long wait, and goes on from there', async () => {
    start('/a', '/b');
    for (const path of ['/a', '/b']) site.set(path, html(path, `Text of ${path}`));
    site.fault({ match: /^\/a$/, status: 503, headers: { 'retry-after': new Date(Date.now() + 300_000).toUTCString() } });
    const first = await list({ url: site.url });
    expect(first.error).toMatchObject({ code: 'RATE_LIMITED', isRetryable: true });
    const second = await list({ url: site.url }, { place: first.pages.at(-1)?.place });
    expect([...first.paths(), ...second.paths()].sort()).toEqual(['/', '/a', '/b']);
    expect(second.end?.isComplete).toBe(true);
  });

  it('has at most CRAWL_HOST_CONCURRENCY requests at a host, over all crawls', async () => {
    const links = Array.from({ length: 30 }, (_, index) => `/p${index}`);
    start(...links);
    site.setBelow('/p', (path) => ({ body: html(path, `Text of ${path}`), gate: sleep(20) }));
    const four = crawler({ CRAWL_HOST_CONCURRENCY: '4' });
    await Promise.all([four.list({ url: site.url }), four.list({ url: `${site.url}/` })]);
    expect(site.mostAtOnce).toBeGreaterThan(1);
    expect(site.mostAtOnce).toBeLessThanOrEqual(4);
  });

  it('says who it is', async () => {
    start();
    await crawler({ PUBLIC_URL: 'https://parley.example.com' }).list({ url: site.url });
    expect(site.requests[0]?.headers['user-agent']).toMatch(/^Parley\/[\d.]+ \(\+https:\/\/parley\.example\.com\)$/);
    site.requests.length = 0;
    await crawler({ CRAWL_USER_AGENT: 'Robo/2 (x)' }).list({ url: site.url });
    expect(site.requests.map(({ headers }) => headers['user-agent'])).toEqual(site.requests.map(() => 'Robo/2 (x)'));
  });

  it('reaches no private address, at the beginning or by a redirect', async () => {
    start('/out');
    site.set('/out', { status: 302, headers: { location: 'http://169.254.169.254/latest/meta-data/' } });
    const globs = { includeUrlGlobs: ['http://169.254.169.254/**', `${site.url}/**`] };
    expect((await list({ url: site.url, ...globs })).paths()).toEqual(['/']);
    const { error } = await list({ url: 'http://10.0.0.1/' });
    expect(error).toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining('EGRESS_ALLOW') });
  });
});

describe('where a crawl goes', () => {
  it('takes include and exclude patterns, and exclude wins', async () => {
    start('/docs/a', '/docs/b.html', '/blog/c', `${other.url}/d`, `${other.url}/secret/e`);
    for (const path of ['/docs/a', '/docs/b.html', '/blog/c']) site.set(path, html(path, `Text of ${path}`));
    for (const path of ['/d', '/secret/e']) other.set(path, html(path, `Text of ${path}`));
    const narrow = await list({ url: site.url, includeUrlGlobs: [`${site.url}/docs/**`], excludeUrlGlobs: ['**/*.html'] });
    expect(narrow.paths()).toEqual(['/docs/a']);
    const wide = await list({ url: site.url, includeUrlGlobs: [`${other.url}/**`], excludeUrlGlobs: ['**/secret/**'] });
    expect(wide.paths()).toEqual(['/', '/blog/c', '/d', '/docs/a', '/docs/b.html']);
  });

  it('follows redirects, and lists each page once at its right address', async () => {
    start('/old', '/new', '/copy', '/print?x=1', '/moved-away', '/stub');
    site.set('/old', { status: 301, headers: { location: '/new' } });
    site.set('/new', html('New', 'The text.'));
    site.set('/copy', html('Copy', 'A copy.', [], '<link rel="canonical" href="/right">'));
    site.set('/print?x=1', { body: html('Print', 'For paper.'), headers: { link: '</new>; rel="canonical"' } });
    site.set('/moved-away', { status: 302, headers: { location: `${other.url}/x` } });
    site.set('/stub', '<meta http-equiv="refresh" content="0; url=/target">');
    site.set('/target', html('Target', 'Reached.'));
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/new', '/right', '/target']);
    expect(other.requests).toEqual([]);
  });

  it.each([
    ['to the folder of its name', '/docs', ['/docs/'], ['/docs/', '/docs/a']],
    ['to another folder', '/docs', ['/manual/start'], ['/manual/a', '/manual/start']],
    ['by several addresses', '/docs', ['/go', '/docs/'], ['/docs/', '/docs/a']],
    ['within the folder that was given', '/docs/', ['/docs/en/'], ['/docs/a', '/docs/en/']],
    ['away from the folder that was given', '/docs/', ['/manual/start'], ['/manual/a', '/manual/start']],
    ['within the site that was given', '/', ['/docs/'], ['/', '/blog', '/docs/', '/docs/a', '/manual/a']],
  ])('covers what is below the address where its start ends: %s', async (_how, from, hops, paths) => {
    const links = ['/docs/a', '/manual/a', '/blog', '/'];
    for (const path of ['/', '/docs/', '/docs/en/', '/manual/start']) site.set(path, html(path, `Text of ${path}`, links));
    for (const path of ['/docs/a', '/manual/a', '/blog']) site.set(path, html(path, `Text of ${path}`));
    for (const [index, to] of hops.entries())
      site.set(index === 0 ? from : (hops[index - 1] ?? ''), { status: 301, headers: { location: to } });
    const expected = from === '/' ? paths.filter((path) => path !== '/') : paths;
    expect((await list({ url: site.url + from })).paths()).toEqual(expected);
  });

  it('reads links as a browser does: base, fragments, sessions, tracking', async () => {
    site.set(
      '/',
      html('Start', 'x', ['a#one', 'a#two', 'a?utm_source=mail', 'a;jsessionid=12AB', 'b/../a'], '<base href="/deep/">'),
    );
    site.set('/deep/a', html('A', 'Text.'));
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/deep/a']);
    expect(site.paths().filter((path) => path.startsWith('/deep'))).toHaveLength(1);
  });

  it('reads sitemaps, their index, and those compressed with gzip', async () => {
    start();
    site.set('/robots.txt', `Sitemap: ${site.url}/maps.xml\n`);
    const index = ['/one.xml', '/two.xml.gz', '/three.txt'].map((path) => `<sitemap><loc>${site.url}${path}</loc></sitemap>`);
    const map = (...paths: string[]) =>
      `<urlset>${paths.map((path) => `<url><loc> ${site.url}${path} </loc></url>`).join('')}</urlset>`;
    site.set('/maps.xml', `<?xml version="1.0"?><sitemapindex>${index.join('')}</sitemapindex>`);
    site.set('/one.xml', `<?xml version="1.0"?>${map('/a', '/q?a=1&amp;b=2')}`);
    site.set('/two.xml.gz', { body: gzipSync(map('/b')), headers: { 'content-type': 'application/gzip' } });
    site.set('/three.txt', `${site.url}/c\n${other.url}/d\n`);
    for (const path of ['/a', '/b', '/c', '/q?a=1&b=2']) site.set(path, html(path, `Text of ${path}`));
    const { end, ...listing } = await list({ url: site.url });
    expect(listing.paths()).toEqual(['/', '/a', '/b', '/c', '/q?a=1&b=2']);
    expect(end?.isComplete).toBe(true);
    site.set('/maps.xml', { status: 500 });
    expect((await list({ url: site.url })).end?.isComplete).toBe(false);
  });

  it('says why the first page cannot be read', async () => {
    const failure = async (url = site.url) => (await list({ url })).error;
    expect(await failure()).toMatchObject({ code: 'NOT_FOUND' });
    site.set('/', { status: 401 });
    expect(await failure()).toMatchObject({ code: 'FORBIDDEN' });
    site.set('/', { body: 'GIF89a', headers: { 'content-type': 'image/gif' } });
    expect(await failure()).toMatchObject({ code: 'UNSUPPORTED' });
    site.set('/', { status: 302, headers: { location: `${other.url}/home` } });
    expect(await failure()).toMatchObject({ code: 'CONFIGURATION', message: expect.stringContaining(`${other.url}/home`) });
    site.set('/', html('Hidden', 'x'));
    site.set('/robots.txt', 'User-agent: parley\nDisallow: /\n');
    expect(await failure()).toMatchObject({ code: 'ROBOTS', message: expect.stringContaining('robots.txt') });
    expect(await failure('http://127.0.0.1:9/')).toMatchObject({ code: 'UNREACHABLE' });
  });
});

describe('what a crawl reads', () => {
  const files: readonly (readonly [string, Buffer | string, string])[] = [
    ['/a.pdf', '%PDF-1.4 x', 'application/pdf'],
    ['/b', '%PDF-1.4 y', 'application/octet-stream'],
    ['/c.csv', 'a,b\n1,2', 'application/octet-stream'],
    ['/d.md', '# D', 'text/plain'],
    ['/e.txt', 'E', 'text/plain'],
    ['/f.zip', 'PK', 'application/zip'],
    ['/g', 'G', 'image/png'],
  ];
  const addFiles = () => {
    start(...files.map(([path]) => path));
    for (const [path, body, type] of files) site.set(path, { body, headers: { 'content-type': type } });
  };

  it('reads only pages unless files are wanted, then those of the chosen types', async () => {
    addFiles();
    expect((await list({ url: site.url })).paths()).toEqual(['/']);
    expect((await list({ url: site.url, includeFiles: false, includedFileTypes: ['PDF'] })).paths()).toEqual(['/']);
    const some = await list({ url: site.url, includeFiles: true, includedFileTypes: ['PDF', 'MARKDOWN'] });
    expect(some.paths()).toEqual(['/', '/a.pdf', '/b', '/d.md']);
    expect(some.items.find(({ uniqueId }) => uniqueId.endsWith('/b'))).toMatchObject({ filename: 'b.pdf', name: 'b.pdf' });
    const all = await list({
      url: site.url,
      includeFiles: true,
      includedFileTypes: ['TEXT', 'CSV', 'PDF', 'MARKDOWN', 'DOC', 'XLS'],
    });
    expect(all.paths()).toEqual(['/', '/a.pdf', '/b', '/c.csv', '/d.md', '/e.txt']);
  });

  it('tells a page by the head of its reply, not by its ending, and asks five times for an ending that answers none', async () => {
    const pictures = Array.from({ length: 9 }, (_, index) => `/picture-${index}.png`);
    start('/wiki/Node.js', '/about.ai', ...pictures);
    site.set('/wiki/Node.js', html('Node.js', 'A runtime.'));
    site.set('/about.ai', html('About', 'Us.'));
    for (const path of pictures) site.set(path, { body: 'x', headers: { 'content-type': 'image/png' } });
    expect((await list({ url: site.url })).paths()).toEqual(['/', '/about.ai', '/wiki/Node.js']);
    expect(site.paths().filter((path) => path.endsWith('.png')).length).toBeLessThan(9);
  });

  it.each([
    ['the head of the reply', 'text/html; charset=windows-1252', '', 'latin1'],
    ['the page', 'text/html', '<meta charset="iso-8859-1">', 'latin1'],
    ['nothing', 'text/html', '', 'utf8'],
    ['the wrong thing', 'text/html; charset=iso-8859-1', '', 'utf8'],
    ['UTF-16', 'text/html; charset=utf-16le', '', 'utf16le'],
  ] as const)('keeps text readable where its charset is said by %s', async (_case, type, head, encoding) => {
    const text = 'Grüße aus Köln, très bientôt à Málaga';
    site.set('/', { body: Buffer.from(html('Grüße', text, [], head), encoding), headers: { 'content-type': type } });
    const [item] = (await list({ url: site.url })).items;
    expect(item?.name).toBe('Grüße');
    expect(Buffer.from(item?.content ?? []).toString('utf8')).toContain(text);
  });

  it('gives up a body that stalls, and leaves out what is too large', async () => {
    const quick = crawler({ UPLOAD_MAX_BYTES: '100000' }, { requestTimeoutMs: 300 });
    start('/stalls', '/large', '/fine');
    site.set('/stalls', { body: html('S', 'x'.repeat(1_000)), pace: 'stall' });
    site.set('/large', html('L', 'y'.repeat(200_000)));
    site.set('/fine', html('F', 'Text.'));
    const { items, end } = await quick.list({ url: site.url });
    const reasons = Object.fromEntries(items.map(({ uniqueId, skipped }) => [new URL(uniqueId).pathname, skipped?.code]));
    expect(reasons).toEqual({ '/': undefined, '/stalls': undefined, '/large': 'TOO_LARGE', '/fine': undefined });
    expect(end?.isComplete).toBe(false);
  });

  it('fetches one page again', async () => {
    const { mkdtemp, readFile, rm } = await import('node:fs/promises');
    const folder = await mkdtemp('/tmp/parley-web-');
    const path = `${folder}/content`;
    const source = { id: 'ds_1', ownerUserId: 'u', orgId: 'o', tenantId: 't', type: 'WEB_URL', data: { url: site.url } } as const;
    const fetch = (url: string) => {
      const item = { uniqueId: url, name: 'x', url, filename: 'x.html', mimeType: 'text/html', metadata: {} };
      return connector.fetch({ source, item, path, bytesMax: 10_000, signal: new AbortController().signal });
    };
    site.set('/old', { status: 301, headers: { location: '/new' } });
    site.set('/new', html('New', 'The text.'));
    try {
      expect(await fetch(`${site.url}/old`)).toEqual({ filename: 'new.html', mimeType: 'text/html' });
      expect(await readFile(path, 'utf8')).toContain('The text.');
      await expect(fetch(`${site.url}/none`)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a site of which nothing can be indexed', () => {
  const noindex = (title: string, links: readonly string[] = []) =>
    html(title, 'Text.', links, '<meta name="robots" content="noindex">');

  it('fails with NOINDEX where its pages say so', async () => {
    site.set('/', noindex('Start', ['/a']));
    site.set('/a', noindex('A'));
    expect((await list({ url: site.url })).error).toMatchObject({
      code: 'NOINDEX',
      message: expect.stringContaining('2 must not be indexed'),
    });
  });

  it('fails with NOTHING_LEFT and counts by cause where all is left out', async () => {
    site.set('/', html('Start', 'Text.', ['/b', '/c', '/d.png', `${other.url}/far`]));
    site.set('/d.png', { body: 'x', headers: { 'content-type': 'image/png' } });
    const { error } = await list({ url: site.url, excludeUrlGlobs: [`${site.url}/`, '**/b', '**/c'] });
    const message = expect.stringMatching(/3 are left out by excludeUrlGlobs.*1 lie outside.*1 are neither web pages/);
    expect(error).toMatchObject({ code: 'NOTHING_LEFT', message });
  });

  it('loses what it had instead, when it had something', async () => {
    site.set('/', html('Start', 'Text.'));
    const first = await list({ url: site.url });
    site.set('/', noindex('Start'));
    const second = await list({ url: site.url }, { known: existingItemsOf(first), state: first.end?.state });
    expect([second.error, second.goneIds]).toEqual([undefined, [`${site.url}/`]]);
  });
});
