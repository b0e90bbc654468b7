import { describe, expect, it } from 'vitest';
import { freshContentAddress, signedContentAddress } from '../../../../src/engine/knowledge/content-links.ts';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { addFile, indexed, itemsOf, longText } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const hourMs = 3_600_000;
const question = 'How long is the warranty on batteries?';
const fact = 'The warranty on batteries lasts two years & <b>not</b> three.';
const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

const ann = await make.person();

/** The citation of an answer by an agent that has one file. */
async function citedIn(name: string, content: string | Uint8Array, type: string) {
  const agentId = (await make.agent({ owner: ann })).id;
  const sourceId = (await addFile(ann, agentId, name, content, type)).body.id;
  await indexed(ann, sourceId);
  return citedBy(agentId);
}
async function citedBy(agentId: string) {
  const { id } = await make.chat({ owner: ann, agentId });
  const reply = await ann.post(`/api/v1/chats/${id}/messages`, { prompt: question });
  const [citation] = reply.body.citations;
  expect(citation, JSON.stringify(reply.body)).toBeDefined();
  return { ...citation, chatId: id };
}
const markedIn = (html: string) => /<mark[^>]*>([\s\S]*?)<\/mark>/.exec(html)?.[1] ?? '';
const textOf = (html: string) => html.replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(Number(code)));

describe('the page that a citation opens', () => {
  it('shows the passage, marked within the text around it, with name and headings, and runs nothing', async () => {
    const document = `# Shop\n\n${longText(6)}\n\n## Warranty\n\n${fact}\n\n## Returns\n\n${longText(6)}\n`;
    const citation = await citedIn('<i>terms.md', document, 'text/markdown');
    const reply = await fetch(citation.url);
    const html = await reply.text();
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(textOf(markedIn(html))).toContain(fact);
    expect(textOf(markedIn(html))).toContain(citation.snippet.slice(0, 40));
    expect(html).toContain('<h1>&#60;i&#62;terms.md</h1>');
    expect(textOf(html)).toMatch(/class="place">[^<]*Warranty/);
    expect(html).not.toContain('<b>');
    expect(html).not.toMatch(/<(script|iframe|object|img|form)/);
    const around = textOf(html.split(/<mark[\s\S]*<\/mark>/).join('\n'));
    expect(around).toContain('speaks of topic');
    expect(reply.headers.get('content-security-policy')).toMatch(
      /^sandbox allow-downloads; default-src 'none'; style-src 'sha256-/,
    );
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('cache-control')).toBe('private, no-store');
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('leads to the whole document, which is saved byte for byte', async () => {
    const document = `<!doctype html><title>Warranty</title><p>${fact.replace('<b>not</b>', 'not')}</p>`;
    const { url } = await citedIn('warranty.html', document, 'text/html');
    const html = await (await fetch(url)).text();
    expect(html).not.toContain('Open the document');
    const [, href = ''] = /<a href="([^"]+)">Download/.exec(html) ?? [];
    for (const address of [new URL(textOf(href), url).href, `${url}&original=1`]) {
      const saved = await fetch(address);
      expect(saved.headers.get('content-disposition')).toMatch(/^attachment; filename="warranty\.html"/);
      expect(saved.headers.get('content-type')).toBe('application/octet-stream');
      expect(saved.headers.get('content-security-policy')).toMatch(/^sandbox/);
      expect(await saved.text()).toBe(document);
    }
  });

  it('leads to the page of a PDF, which the browser shows', async () => {
    const pdf = await makePdf([
      { heading: 'Hours', columns: ['The workshop opens at nine.'] },
      { heading: 'Warranty', columns: ['The warranty on batteries lasts two years.'] },
    ]);
    const citation = await citedIn('terms.pdf', pdf, 'application/pdf');
    expect(citation.page).toBe(2);
    const html = await (await fetch(citation.url)).text();
    expect(textOf(html)).toMatch(/class="place">[^<]*page 2/);
    const [, href = ''] = /<a href="([^"]+)">Open the document at page 2/.exec(html) ?? [];
    expect(href).toMatch(/#page=2$/);
    const shown = await fetch(new URL(textOf(href), citation.url));
    expect(shown.headers.get('content-type')).toBe('application/pdf');
    expect(shown.headers.get('content-disposition')).toMatch(/^inline;/);
    expect(shown.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    expect(shown.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Buffer.from(await shown.arrayBuffer()).equals(Buffer.from(pdf))).toBe(true);
  });

  it('shows the passage of a JSON payload', async () => {
    const agentId = (await make.agent({ owner: ann })).id;
    const source = await make.apiDataSource({
      owner: ann,
      agentId,
      data: { product: 'Bicycle', warranty: 'Batteries: two years' },
    });
    await indexed(ann, source.id);
    const html = await (await fetch((await citedBy(agentId)).url)).text();
    expect(textOf(markedIn(html))).toContain('two years');
  });

  it('shows a bounded part of a long document, with the passage in its middle', async () => {
    const { url } = await citedIn('long.md', `${longText(150)}\n\n${fact}\n\n${longText(150)}`, 'text/markdown');
    const html = await (await fetch(url)).text();
    expect(textOf(markedIn(html))).toContain('The warranty on batteries');
    expect(html.length).toBeLessThan(40_000);
    expect(html).toMatch(/class="text">… /);
    expect(html).toContain(' …</div>');
  });

  it('says so when the document was changed since, and when it is gone', async () => {
    const agentId = (await make.agent({ owner: ann })).id;
    const source = await make.apiDataSource({ owner: ann, agentId, data: { warranty: 'Batteries: two years' } });
    await indexed(ann, source.id);
    const { url } = await citedBy(agentId);
    expect(await (await fetch(url)).text()).not.toContain('was read again');
    await ann.post(`/api/v1/data-sources/${source.id}/refresh?forceRefresh=true`);
    await indexed(ann, source.id);
    expect(await (await fetch(url)).text()).toContain('was read again after it was cited');
    await ann.delete(`/api/v1/data-sources/${source.id}`);
    const gone = await fetch(url, browser);
    expect([gone.status, gone.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect((await fetch(url)).headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('tells people in words that a link has expired or was changed', async () => {
    const citation = await citedIn('terms.md', `# Warranty\n\n${fact}`, 'text/markdown');
    const past = { ...service.deps, now: () => new Date(service.deps.now().getTime() - hourMs) };
    const { dataSourceId, knowledgeItemId: itemId, id: chunkId, charStart, charEnd } = citation;
    const passage = { chunkId, charStart, charEnd };
    const expired = signedContentAddress(past, { dataSourceId, itemId, orgId: ann.orgId, passage });
    for (const [address, words] of [
      [expired, 'has expired; links to sources work for an hour'],
      [`${citation.url.slice(0, -4)}AAAA`, 'was not made by this service'],
    ] as const) {
      const refused = await fetch(address, browser);
      expect([refused.status, refused.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
      expect(await refused.text()).toContain(words);
      expect((await fetch(`${address}&download=1`)).status).toBe(403);
    }
  });

  it('opens also from a transcript that is read later, by a link that was signed again for the same passage', async () => {
    const citation = await citedIn('terms.md', `# Warranty\n\n${fact}`, 'text/markdown');
    const past = { ...service.deps, now: () => new Date(service.deps.now().getTime() - 2 * hourMs) };
    const { dataSourceId, knowledgeItemId: itemId } = citation;
    // As answers of earlier versions: without the passage.
    const url = signedContentAddress(past, { dataSourceId, itemId, orgId: ann.orgId });
    const html = await (await fetch(freshContentAddress(service.deps, { ...citation, url }))).text();
    expect(textOf(markedIn(html))).toContain(fact);
    const [item] = await itemsOf(ann, dataSourceId);
    expect((await ann.get(new URL(item.originalContent.contentBlobUrl).pathname)).body).toContain(fact);
  });
});
