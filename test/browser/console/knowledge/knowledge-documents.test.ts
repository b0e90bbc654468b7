import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../../../support/browser/browser.ts';
import { checkScreen, openConsole, overflowWidth } from '../../../support/browser/console.ts';
import { makePdf } from '../../../support/knowledge/documents.ts';
import { addFile, indexed, longText } from '../../../support/knowledge/knowledge.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService();
const fact = 'The lighthouse shows three white flashes every ten seconds during fog.';

const organization = await make.organization();
const ann = await make.person({ organization, role: 'ADMIN', name: 'Ann Example' });
const agentId = (await make.agent({ owner: ann, name: 'Harbour pilot', visibility: 'ORGANIZATION' })).id;

/** Where a passage of a new document stands. */
async function added(filename: string, content: string | Uint8Array, type: string, question: string) {
  const { id: sourceId } = (await addFile(ann, agentId, filename, content, type)).body;
  await indexed(ann, sourceId);
  const document = `query ($input: KnowledgeSearchInput!) { searchKnowledge(input: $input) { hits {
    passageId knowledgeItemId page charStart charEnd } } }`;
  const { data } = await ann.graphql(document, { input: { query: question, dataSourceIds: [sourceId], limit: 1 } });
  const [{ passageId, knowledgeItemId, page, charStart, charEnd }] = data.searchKnowledge.hits;
  const query = new URLSearchParams({ citation: passageId, passage: `${charStart}-${charEnd}` });
  if (page !== null) query.set('page', page);
  return `/documents/${knowledgeItemId}?${query}`;
}

describe.skipIf(!hasBrowser())('a document in the console', () => {
  it('of a source of files: an address of a part that this source does not have shows and selects the overview', async () => {
    const { id } = (await addFile(ann, agentId, 'tides.txt', 'High tide is at noon.', 'text/plain')).body;
    const { page } = await openConsole(service, ann, `/knowledge/${id}/permissions`);
    const parts = page.getByRole('navigation', { name: 'Parts of the source' });
    await parts.getByRole('link', { name: 'Overview' }).waitFor();
    expect(await parts.locator('[aria-current="page"]').allTextContents()).toEqual(['Overview']);
  });

  it('leads from an answer to the page of a PDF, with the passage marked', async () => {
    const filler = longText(3).replaceAll('\n', ' ');
    const pages = [1, 2, 3].map((number) => ({ heading: `Chapter ${number}`, columns: [number === 3 ? fact : filler] }));
    await added('lights.pdf', await makePdf(pages), 'application/pdf', 'What does the lighthouse show during fog?');
    const { page, problems, strangers } = await openConsole(service, ann, `/?agent=${agentId}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('What does the lighthouse show during fog?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page
      .getByRole('button', { name: /^Source 1:/ })
      .first()
      .click();
    await page.getByRole('complementary', { name: 'Sources' }).getByRole('link', { name: 'Open the document' }).click();
    await page.getByRole('heading', { level: 1, name: 'lights.pdf' }).waitFor();
    const third = page.getByRole('region', { name: 'Page 3' });
    await third.locator('mark').first().waitFor();
    expect((await third.locator('mark').allTextContents()).join(' ').replace(/\s+/g, ' ')).toContain('three white flashes');
    const box = await third.locator('mark').first().boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect(box?.y).toBeLessThan(800);
    await checkScreen(page, 'knowledge-pdf');
    await page.getByRole('button', { name: 'Show the text' }).click();
    await page.locator('pre mark', { hasText: 'three white flashes' }).waitFor();
    expect([...strangers]).toEqual([]);
    expect(problems).toEqual([]);
  });

  it('says why a page of a PDF cannot be shown', async () => {
    const pages = [{ heading: 'Moorings', columns: ['Every mooring has two ropes of forty metres.'] }];
    const path = await added('moorings.pdf', await makePdf(pages), 'application/pdf', 'How long are the ropes of a mooring?');
    const { page } = await openConsole(service, ann, path);
    await page.addInitScript(() => {
      Range.prototype.surroundContents = () => {
        throw new Error('no mark fits here');
      };
    });
    await page.reload();
    await page.getByRole('alert').getByText('This page cannot be shown: no mark fits here').waitFor();
    await checkScreen(page, 'knowledge-pdf-fault');
  });

  it.each(['light', 'dark'] as const)('shows a text at the passage in %s colors, on a telephone too', async (scheme) => {
    const document = `# Rules\n\n${longText(60)}\n\n## Fees\n\nA berth for one night costs forty crowns.\n\n${longText(10)}`;
    const path = await added(`rules-${scheme}.md`, document, 'text/markdown', 'What does a berth cost?');
    const { page } = await openConsole(service, ann, path, { scheme, width: 390 });
    const mark = page.locator('mark', { hasText: 'A berth for one night' });
    await mark.waitFor();
    expect(await mark.evaluate((element) => element.getBoundingClientRect().top < innerHeight)).toBe(true);
    expect(await overflowWidth(page)).toBe(0);
    await checkScreen(page, `knowledge-document-${scheme}`);
  });

  it('is drawn: Markdown with its headings, tables and code, the passage marked', async () => {
    const document = `# Prices\n\n${longText(20)}\n\n## Berths\n\n| Length | Crowns |\n| --- | ---: |\n| up to 12 m | 44 |\n\nSee [the rules](rules.md) and <b>this</b>. A visitor's berth is paid **before noon**, in cash. Late payers wait.\n\n\`\`\`sh\npay --now\n\`\`\`\n`;
    const path = await added('prices.md', document, 'text/markdown', 'When is a berth of a visitor paid?');
    const { page, problems } = await openConsole(service, ann, path);
    const place = page.getByRole('region', { name: 'Document' });
    await place.getByRole('heading', { level: 2, name: 'Prices' }).waitFor();
    await place.getByRole('heading', { level: 3, name: 'Berths' }).waitFor();
    expect(await place.getByRole('cell', { name: '44' }).count()).toBe(1);
    expect(await place.getByRole('link').count()).toBe(0);
    await place.getByText('<b>this</b>').waitFor();
    expect((await place.locator('mark').allTextContents()).join('')).toContain("A visitor's berth is paid before noon, in cash.");
    await checkScreen(page, 'knowledge-markdown');
    expect(problems).toEqual([]);
  });

  it('of HTML is drawn without anything that runs, asks or looks different, and the words are marked', async () => {
    const html = `<!doctype html><html><head><title>Fog</title><style>p { color: red }</style></head><body onload="alert(1)">
      <h1>Fog signals</h1><script>document.body.textContent = 'owned'</script><iframe src="https://strangers.example/f"></iframe>
      <p style="color:red" onclick="alert(2)">The fog horn sounds <b>four</b> times a minute. <img src="https://strangers.example/p.png" alt="A horn"></p>
      <p>Ships answer with <a href="javascript:alert(3)">one</a> blast, see <a href="https://horns.example/rules">the rules</a>.</p>
      <table><tr><th>Day</th><td>2</td></tr></table><form action="https://strangers.example"><input name="x"><button>Send</button></form>
      <svg onload="alert(4)"><text>drawn</text></svg></body></html>`;
    const path = await added('fog.html', html, 'text/html', 'How often does the fog horn sound?');
    // Who sees the source reads what was read out of it; others the file itself.
    const bob = await make.person({ organization, name: 'Bob Reader' });
    for (const reader of [ann, bob]) {
      const { page, problems, strangers } = await openConsole(service, reader, path);
      const place = page.getByRole('region', { name: 'Document' });
      await place.getByRole('heading', { level: 2, name: 'Fog signals' }).waitFor();
      await place.locator('mark').first().waitFor();
      expect((await place.locator('mark').allTextContents()).join(' ').replace(/\s+/g, ' ')).toContain('The fog horn sounds');
      expect(await place.getByRole('link').allTextContents()).toEqual(['the rules (horns.example)']);
      expect(await place.locator('script, iframe, style, svg, form, input, button, [style], [onclick]').count()).toBe(0);
      await checkScreen(page, `knowledge-html-${reader === ann ? 'source' : 'reader'}`);
      expect(problems).toEqual([]);
      expect([...strangers]).toEqual([]);
    }
  });

  it('is read by who may use an agent that cites it, and is missing for others', async () => {
    const path = await added(
      'tides.md',
      'High water comes twice a day at the northern quay.',
      'text/markdown',
      'When is high water?',
    );
    const bob = await make.person({ organization, name: 'Bob Reader' });
    const reader = await openConsole(service, bob, path);
    await reader.page.locator('mark', { hasText: 'High water comes twice a day' }).waitFor();
    const stranger = await openConsole(service, await make.person({ name: 'Eve Elsewhere' }), path);
    await stranger.page.getByRole('heading', { name: 'There is no such document' }).waitFor();
  });
});
