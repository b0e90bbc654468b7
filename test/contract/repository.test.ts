import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly { readonly uses?: string }[] }>
  >;
}

describe('the workflows', () => {
  it.each(globSync('.github/workflows/*.yml'))('%s: bounded in time, few rights, actions by their commits', (path) => {
    const { permissions, jobs } = parse(readFileSync(path, 'utf8')) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0);
      for (const { uses } of job.steps) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    }
  });
});

describe('the forms for issues', () => {
  it.each(globSync('.github/ISSUE_TEMPLATE/{bug,feature}.yml'))('%s has a name, a description and questions', (path) => {
    const form = parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String), body: expect.any(Array) });
  });
});

it('the changelog has a section for the version of the package', () => {
  expect(readFileSync('CHANGELOG.md', 'utf8')).toMatch(
    new RegExp(`^## ${packageJson.version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)$`, 'm'),
  );
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly engines?: { readonly node?: string }; readonly optional?: boolean }>>;
}

describe('npm ci', () => {
  it('has no package that warns of the oldest Node that npm may run on', () => {
    const oldest = numbersOf(packageJson.engines.node);
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as Lock;
    const packages = Object.entries(lock.packages);
    const tooNew = packages.filter(([, { engines, optional }]) => optional !== true && !takes(engines?.node ?? '*', oldest));
    expect(tooNew.map(([name, { engines }]) => `${name} needs ${engines?.node}`)).toEqual([]);
  });
});

function numbersOf(version: string): readonly number[] {
  return /[\d.]+/.exec(version)?.[0].split('.').map(Number) ?? [];
}

/** Whether a range of npm, such as `^20.19.0 || >=22.12`, has the version. */
function takes(range: string, version: readonly number[]): boolean {
  return range.split('||').some((part) =>
    [...part.matchAll(/([<>=^~]*)\s*v?(\d[\d.]*)/g)].every(([, sign = '', bound = '']) => {
      const difference = compare(version, numbersOf(bound));
      if (sign === '<') return difference < 0;
      if (sign.startsWith('<')) return difference <= 0;
      if (sign === '>') return difference > 0;
      return difference >= 0 && (sign.startsWith('>') || version[0] === numbersOf(bound)[0]);
    }),
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const place of [0, 1, 2]) if ((a[place] ?? 0) !== (b[place] ?? 0)) return (a[place] ?? 0) - (b[place] ?? 0);
  return 0;
}

/** `test/{a,b}.test.ts` → both. */
function alternatives(pattern: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(pattern);
  if (braces === null) return [pattern];
  const [whole, inner = ''] = braces;
  const end = braces.index + whole.length;
  return inner.split(',').flatMap((one) => alternatives(pattern.slice(0, braces.index) + one + pattern.slice(end)));
}

it('.ci/run names only tests that are there: one that moved would be left out, or tried twice', () => {
  const lines = readFileSync('.ci/run', 'utf8').split('\n');
  const patterns =
    lines
      .filter((line) => !line.trim().startsWith('#'))
      .join(' ')
      .match(/(?<=[\s'])test\/[^\s'"]+/g) ?? [];
  expect(patterns.length).toBeGreaterThan(10);
  expect(patterns.flatMap(alternatives).filter((path) => globSync(path).length === 0)).toEqual([]);
});
