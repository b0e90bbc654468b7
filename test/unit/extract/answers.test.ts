import { describe, expect, it } from 'vitest';
import { exportFacts } from '../../../src/engine/imports/exported-chat.ts';
import { createPageReader } from '../../../src/engine/knowledge/connectors/web/reading/page-reader.ts';
import { testSettings } from '../../support/settings.ts';
import { testPools } from '../../support/sharing/pools.ts';

/** A process that reads foreign bytes may have been taken over by them: its answers are checked like the replies of a service. */
describe('the answer of a process that reads foreign bytes', () => {
  const facts = { next: 3, total: 5, refusals: { 'too long': 1 } };

  it('about an export of chats is taken in its form', () => {
    expect(exportFacts.parse(facts)).toEqual(facts);
    expect(exportFacts.parse({ ...facts, next: null, total: null })).toEqual({ ...facts, next: null, total: null });
    expect(exportFacts.parse({ ...facts, total: 0 })).toEqual({ ...facts, total: 0 });
  });

  it.each([
    { next: 0 },
    { next: 1.5 },
    { next: '3' },
    { total: -1 },
    { total: 0.5 },
    { refusals: { why: 0 } },
    { refusals: { why: 1.5 } },
    { refusals: null },
  ])('about an export of chats is refused in another form: %j', (wrong) => {
    expect(exportFacts.safeParse({ ...facts, ...wrong }).success).toBe(false);
  });

  it('about a page or a sitemap is refused in another form', async () => {
    const extractor = { ask: async () => ({ text: '', lists: {}, value: { kind: 'SOMETHING', leftOut: { excluded: -1 } } }) };
    const pages = createPageReader({ extractor, places: testPools().queue('web', 1), settings: testSettings({}) });
    const owner = { orgId: 'org', tenantId: 'tenant' };
    const { signal } = new AbortController();
    const question = { url: 'https://site.example/', contentType: 'text/html', said: null, token: 'parley' };
    const refusal = { message: expect.stringContaining('answered in another form than expected') };
    await expect(pages.document(owner, new Uint8Array(), question, signal)).rejects.toMatchObject(refusal);
    const scope = {} as Parameters<typeof pages.sitemap>[2]['scope'];
    const ofSitemap = { url: 'https://site.example/sitemap.xml', scope, pagesMax: 1 };
    await expect(pages.sitemap(owner, 'sitemap.xml', ofSitemap, signal)).rejects.toMatchObject(refusal);
  });
});
