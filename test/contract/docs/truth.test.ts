import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withService } from '../../support/service.ts';

interface ToolReply {
  readonly type: string;
  readonly setting: string | null;
}

const { service } = await withService();
const page = (path: string) => readFileSync(path, 'utf8');
const named = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('what the pages say that works', () => {
  it('is what GET /api/v1/tools says, with the settings that switch it on', async () => {
    const tools: readonly ToolReply[] = (await service.client().get('/api/v1/tools')).body.data;
    // The caller runs functions itself, so the list of the service's tools has none.
    const always = ['function', ...tools.filter(({ setting }) => setting === null).map(({ type }) => type)].toSorted();
    const bySetting = tools.filter(({ setting }) => setting !== null);
    const rows = page('docs/agents.md')
      .split('\n')
      .filter((line) => line.startsWith('| tools of a request:'));
    const [alwaysRow = '', settingRow = ''] = rows.map((row) => row.split('|')[1] ?? '');
    expect(rows).toHaveLength(2);
    expect(named(alwaysRow.replace(/\([^)]*\)/g, '')).toSorted()).toEqual(always);
    expect(named(settingRow).toSorted()).toEqual(bySetting.map(({ type }) => type).toSorted());
    for (const { setting } of bySetting) expect(rows[1]).toContain(`\`${setting}\``);
    const readme = /^- \*\*Tools\*\*: ([^;]*);([^;]*);/m.exec(page('README.md'));
    expect(named(readme?.[1] ?? '').toSorted()).toEqual(always);
    for (const { type, setting } of bySetting) expect(readme?.[2]).toContain(`\`${type}\` with ${setting}`);
  });

  it('is what responses accept as include', async () => {
    const asked = { model: 'parley/offline', input: 'Hi', include: ['nothing'] };
    const { body } = await service.client().post('/api/v2/responses', asked);
    const row = /^\| `include` of responses \| ([^;]*);/m.exec(page('docs/agents.md'))?.[1] ?? '';
    expect(named(row).toSorted()).toEqual(
      body.error.message
        .replace(/^.*must be one of /, '')
        .split(', ')
        .toSorted(),
    );
  });
});

describe('the words of pages', () => {
  it('call an agent an agent', () => {
    const wrong = ['README.md', ...globSync('docs/*.md').filter((path) => path !== 'docs/operations.md')].flatMap((path) =>
      page(path)
        .replace(/```[\s\S]*?```|`[^`\n]*`|\]\([^)]*\)/g, '')
        .split('\n')
        .filter(
          (line) =>
            /\b(?:an?|the|each|this|your) (?:AI|bot|assistant)\b(?! SDK|,? message)/i.test(line) &&
            !/from the assistant/.test(line),
        )
        .map((line) => `${path}: ${line.slice(0, 120)}`),
    );
    expect(wrong).toEqual([]);
  });
});

it.each(['docs/add-an-operation.md', 'docs/changes.md'])('the diffs of %s are those of the code', (path) => {
  const text = page(path);
  const code = named(text.replace(/```[\s\S]*?```/g, ''))
    .filter((name) => /^(?:src|console|test|docs)\/.*\.(?:tsx?|graphql|json|md)$/.test(name))
    .map(page)
    .join('\n');
  const added = [...text.matchAll(/^\+(.*)$/gm)].map(([, line = '']) => line);
  expect(added.length).toBeGreaterThan(20);
  expect(added.filter((line) => !code.includes(line))).toEqual([]);
});

it('the decisions can be read in an hour', () => {
  const words = globSync('docs/decisions/*.md').flatMap((path) => page(path).split(/\s+/));
  expect(words.length).toBeLessThan(12_000);
});

it('the changelog says nothing twice', () => {
  const lines = page('CHANGELOG.md')
    .split('\n')
    .filter((line) => line.startsWith('- '));
  expect(lines.filter((line, index) => lines.indexOf(line) !== index)).toEqual([]);
});
