import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { html, startSite } from '../../../fixtures/upstreams/site.ts';
import { type CommandOptions, parley } from '../../../support/processes/command-line.ts';
import { withService } from '../../../support/service.ts';

const { service, make } = await withService('plain', { env: { EGRESS_ALLOW: '127.0.0.1' } });
const site = await startSite();
const scratch = mkdtempSync(join(tmpdir(), 'parley-cli-sources-'));

const ann = await make.person();
for (const path of ['guide.md', 'notes.txt', 'old/guide.md']) {
  mkdirSync(join(scratch, path, '..'), { recursive: true });
  writeFileSync(join(scratch, path), `# ${path}\n\nThe ferry leaves at nine.\n`);
}

afterAll(async () => {
  rmSync(scratch, { recursive: true });
  await site.close();
});
beforeEach(() => site.reset());

/** Adds for an agent of its own, and reads what the source has. */
async function add(line: string, options?: CommandOptions) {
  const agent = await make.agent({ owner: ann });
  const env = { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key };
  const result = await parley(`sources add ${line} --agent ${agent.id}`, env, options);
  const sources: { id: string; name: string; data: object }[] = (await ann.get(`/api/v1/ais/${agent.id}/data-sources`)).body.data;
  const names = async () => {
    const lists = await Promise.all(sources.map(({ id }) => ann.get(`/api/v1/data-sources/${id}/knowledge?first=100`)));
    return lists
      .flatMap(({ body }) => body.data.map(({ uniqueId }: { uniqueId: string }) => new URL(uniqueId).pathname))
      .toSorted();
  };
  return { ...result, sources, names };
}

describe('parley sources add of an address', () => {
  it('takes a file by its address, without a word about file types', async () => {
    site.set('/prices.csv', { body: 'berth,euro\nnorth quay,35\n', headers: { 'content-type': 'text/csv' } });
    const { code, out, names } = await add(`${site.url}/prices.csv`);
    expect([code, out]).toEqual([0, expect.stringMatching(/^1 of 1 indexed for /)]);
    expect(await names()).toEqual(['/prices.csv']);
  });

  it('takes what fits, leaves out what does not, and keeps to its bounds', async () => {
    const pages = ['a', 'b', 'c'];
    site.set(
      '/docs/',
      html('Docs', 'The docs of the harbour.', [...pages.map((name) => `/docs/${name}`), '/docs/old/a', '/blog/', '/docs/t.csv']),
    );
    for (const name of pages) site.set(`/docs/${name}`, html(name, `Page ${name} tells of the harbour and its ${name} quay.`));
    site.set('/docs/old/a', html('old', 'An old page about the harbour.'));
    site.set('/blog/', html('blog', 'News of the harbour.'));
    site.set('/docs/t.csv', { body: 'berth,euro\nnorth quay,35\n', headers: { 'content-type': 'text/csv' } });
    const line = `${site.url}/docs/ --include ${site.url}/docs/** --exclude **/old/** --exclude **/c --files csv --max-pages 50 --timeout 60 --refresh daily`;
    const { code, err, names, sources } = await add(line);
    expect([code, err]).toEqual([0, expect.not.stringContaining('http')]);
    expect(await names()).toEqual(['/docs/', '/docs/a', '/docs/b', '/docs/t.csv']);
    expect(sources[0]).toMatchObject({ refreshPeriod: 'DAILY', data: { maxPages: 50, timeout: 60, includedFileTypes: ['CSV'] } });
    const bounded = await add(`${site.url}/docs/ --max-pages 2`);
    expect(bounded).toMatchObject({ code: 0, err: expect.stringMatching(/docs\/: .*maxPages/) });
    expect(await bounded.names()).toHaveLength(2);
  });

  it.each([
    [
      'forbids to be indexed',
      {
        body: '<meta name="robots" content="noindex"><p>Nothing here is for others.</p>',
        headers: { 'content-type': 'text/html' },
      },
    ],
    ['is no document', { body: 'PK', headers: { 'content-type': 'application/zip' } }],
  ])('ends with the reason when the only page %s', async (_what, page) => {
    site.set('/', page);
    const { code, out, err } = await add(`${site.url}/`);
    expect([code, out]).toEqual([1, expect.stringMatching(/^0 of 1 indexed for /)]);
    expect(err).toMatch(new RegExp(`^${site.url}/: \\S.{20,}$`, 'm'));
  });
});

describe('parley sources add of a folder', () => {
  it.each([
    ['--include *.md', ['guide.md', 'guide.md']],
    ['--include *.md --exclude old/**', ['guide.md']],
    ['--include "*.{txt,pdf},old/*.md"', ['guide.md', 'notes.txt']],
  ])('takes what fits: %s', async (options, names) => {
    const { code, sources } = await add(`${scratch} ${options}`);
    expect([code, sources.map(({ name }) => name).toSorted()]).toEqual([0, names]);
  });

  it.each<[string, string, number, RegExp]>([
    ['nothing fits', '--include *.pdf', 1, /None of the 3 files of ".*" fits --include and --exclude\./],
    ['an option about addresses', '--max-pages 5', 2, /--maxPages is about addresses, and none is given\./],
  ])('says so when %s', async (_what, options, code, words) => {
    expect(await add(`${scratch} ${options}`)).toMatchObject({ code, out: '', err: expect.stringMatching(words), sources: [] });
  });

  it.each<[string, RegExp]>([
    ['--max-pages 0', /--maxPages must be a whole number from 1 to 10000, not "0"\./],
    ['--timeout soon', /--timeout must be a whole number from 1 to 86400, not "soon"\./],
    ['--files exe', /--files must be all, none, or some of text, csv, pdf, markdown, doc, xls, not "exe"\./],
    ['--refresh hourly', /--refresh must be one of NEVER, DAILY, WEEKLY, MONTHLY, not "hourly"\./],
  ])('refuses a value that is not allowed: %s', async (options, words) => {
    expect(await add(`${site.url}/ ${options}`)).toMatchObject({ code: 2, err: expect.stringMatching(words), sources: [] });
  });
});

describe('the progress of parley sources add', () => {
  it('is one line that moves on a terminal', async () => {
    const { err } = await add(scratch, { isTerminal: true });
    const lines = [...err.matchAll(/\[([^\]]*)\]/g)].map(([, line = '']) => line);
    expect(lines[0]).toMatch(/^\S Sending {2}░{24} {2}0\/3$/);
    expect(lines.at(-2)).toMatch(/^\S Indexing {2}█{24} {2}3\/3$/);
    expect(lines.at(-1)).toBe('');
    // The first sign turns, so that a person sees that it goes on.
    expect(lines.slice(1).every((line, index) => line === '' || line !== lines[index])).toBe(true);
  });

  it('is plain lines elsewhere, none of them twice', async () => {
    const { err } = await add(scratch);
    const lines = err.trim().split('\n');
    expect(lines.every((line) => /^(Sending|Indexing): \d+ %, \d of 3$/.test(line))).toBe(true);
    expect(lines.at(-1)).toBe('Indexing: 100 %, 3 of 3');
    expect(new Set(lines).size).toBe(lines.length);
  });
});
