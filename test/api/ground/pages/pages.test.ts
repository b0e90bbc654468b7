import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { SearchEntry } from '../../../../src/http/page/search-entry.ts';
import { withService } from '../../../support/service.ts';

const { service } = await withService();

const ask = (path: string, init?: RequestInit) => fetch(`${service.url}${path}`, init);
const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };
const loadedBy = (html: string) =>
  [...html.matchAll(/<(?:link|script|img)\b[^>]*(?:href|src)="([^"]+)"/g)].map((match) => match[1]);
const linksOf = (html: string) => [...html.matchAll(/<a\b[^>]*href="([^"]+)"/g)].map((match) => match[1] ?? '');

describe('/', () => {
  it('is a short JSON text for clients that do not ask for HTML', async () => {
    const reply = await ask('/');
    expect([reply.status, reply.headers.get('content-type'), reply.headers.get('vary')]).toEqual([
      200,
      'application/json; charset=utf-8',
      'accept',
    ]);
    const body = (await reply.json()) as { links: Record<string, string> };
    expect(body).toMatchObject({ name: 'Parley', version: packageJson.version });
    expect(Object.keys(body)).toEqual(['name', 'version', 'description', 'links']);
    for (const path of ['openapi', 'reference', 'manual', 'about', 'health', 'readiness'])
      expect([path, (await ask(body.links[path] ?? '')).status]).toEqual([path, 200]);
  });
  it('is the same text at /about, where browsers get a page', async () => {
    expect(await (await ask('/about')).json()).toEqual(await (await ask('/')).json());
  });
  it('answers HEAD with the head of the same reply', async () => {
    for (const path of ['/', '/about']) {
      const [get, head] = [await ask(path), await ask(path, { method: 'HEAD' })];
      expect([head.status, await head.text()]).toEqual([200, '']);
      for (const name of ['content-type', 'content-length', 'vary']) expect(head.headers.get(name)).toBe(get.headers.get(name));
      await get.body?.cancel();
    }
  });
  it('names the methods that it takes', async () => {
    const [post, options] = [await ask('/', { method: 'POST' }), await ask('/', { method: 'OPTIONS' })];
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
  });
  it('is the same with a key and without: it tells nothing about what is stored or set', async () => {
    const withKey = { headers: { authorization: `Bearer ${service.adminKey}` } };
    expect(await (await ask('/about', withKey)).text()).toBe(await (await ask('/about')).text());
  });
  it('has the icon where browsers ask for one', async () => {
    const reply = await ask('/favicon.ico');
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });
});

describe('the manual', () => {
  it('lists its pages; every page loads and links only what this service has', async () => {
    const pages = linksOf(await (await ask('/manual', asBrowser)).text()).filter((link) => link.startsWith('/manual/'));
    expect(pages).toContain('/manual/docs/chats.md');
    const contents = new Map<string, string>();
    for (const page of pages) {
      const reply = await ask(page, asBrowser);
      expect([page, reply.status]).toEqual([page, 200]);
      contents.set(page, await reply.text());
    }
    const faults: string[] = [];
    for (const [page, html] of contents) {
      if (loadedBy(html).some((path) => path?.startsWith('/') !== true)) faults.push(`${page} loads something from elsewhere`);
      for (const link of linksOf(html)) {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? html : contents.get(path);
        if (path.startsWith('/manual/') && target === undefined) faults.push(`${page} links ${link}`);
        if (target !== undefined && anchor !== undefined && !target.includes(` id="${decodeURIComponent(anchor)}"`))
          faults.push(`${page} links ${link}`);
      }
    }
    expect(faults).toEqual([]);
  });
  it('shows Markdown as HTML, without the comments in it', async () => {
    const tour = await (await ask('/manual/README.md')).text();
    expect(tour).toContain('<h2 id="quick-tour">Quick tour<a class="anchor" href="#quick-tour"');
    expect(tour).not.toContain('&lt;!--');
    expect(tour).not.toContain('<!-- tour');
    expect(await (await ask('/manual/docs/configuration.md')).text()).toContain('<table>');
  });
  it.each([
    '/manual/package.json',
    '/manual/docs/tour/warranty.pdf',
    '/manual/..%2fpackage.json',
    '/manual/docs/none.md',
    '/manual/',
  ])('has nothing at %s', async (path) => {
    expect((await ask(path)).status).toBe(404);
  });
});

describe('the list of pages in the manual', () => {
  const groupsOf = (html: string) =>
    [...html.matchAll(/<details(?: open)?><summary>(\w+)<\/summary>(.*?)<\/details>/gs)].map(
      ([, group = '', list = '']) => [group, linksOf(list)] as const,
    );

  it('has guides before administration, reference and decisions, each page once, also those that no group names', async () => {
    const html = await (await ask('/manual/docs/chats.md')).text();
    const groups = groupsOf(html);
    expect(groups.map(([group]) => group)).toEqual(['Start', 'Guides', 'Administration', 'Reference', 'Decisions']);
    const listed = groups.flatMap(([, links]) => links);
    const files = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md']).filter(
      (path) => !['AGENTS.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md'].includes(path),
    );
    expect(listed.toSorted()).toEqual(files.map((path) => `/manual/${path}`).toSorted());
    expect(linksOf(html).filter((link) => link === '/manual/docs/chats.md')).toHaveLength(1);
    expect(html).toContain('<a href="/manual/docs/chats.md" aria-current="page">Chats</a>');
  });
  it('is the order of the links to the page before and the page after', async () => {
    const listed = groupsOf(await (await ask('/manual/docs/chats.md')).text()).flatMap(([, links]) => links);
    const walked: string[] = [];
    for (let next: string | undefined = listed[0]; next !== undefined; ) {
      walked.push(next);
      next = /<a rel="next" href="([^"]+)"/.exec(await (await ask(next)).text())?.[1];
    }
    expect(walked).toEqual(listed);
  });
});

describe('the index of the search', () => {
  const index = async () => {
    const reply = await ask('/pages/search.json');
    return (await reply.json()) as SearchEntry[];
  };

  it('has every operation of REST, at its place in the reference', async () => {
    const { paths } = (await (await ask('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
    };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, tags }]) => [
        `${method.toUpperCase()} ${path}`,
        `/docs#/${encodeURIComponent(tags[0] ?? '')}/${operationId}`,
      ]),
    );
    const found = (await index()).filter(({ kind }) => kind === 'rest').map(({ title, address }) => [title, address]);
    expect(found.toSorted()).toEqual(operations.toSorted());
  });
  it('leads to headings that the pages of the manual have', async () => {
    const entries = (await index()).filter(({ kind }) => kind === 'manual');
    const pages = new Map<string, string>();
    const faults: string[] = [];
    for (const { address, title } of entries) {
      const [path = '', anchor] = address.split('#');
      const html = pages.get(path) ?? (await (await ask(path)).text());
      pages.set(path, html);
      if (anchor !== undefined && !html.includes(` id="${anchor}"`)) faults.push(address);
      if (title.trim() === '' || title.includes('&#')) faults.push(`${address} is called ${title}`);
    }
    expect(faults).toEqual([]);
    expect(entries.length).toBeGreaterThan(300);
  });
  it('holds the words below a heading, without markup', async () => {
    const part = (await index()).find(({ address }) => address === '/manual/docs/chats.md#branches');
    expect(part).toMatchObject({ title: 'Branches', detail: 'Chats' });
    expect(part?.text).toContain('The messages of a chat are a tree.');
    expect(part?.text).not.toMatch(/`|\||<\/?[a-z]/);
  });
});
