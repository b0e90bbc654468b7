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
  it.each(globSync('.github/workflows/*.yml'))('%s: bounded in time, few rights, actions by exact version', (path) => {
    const { permissions, jobs } = parse(readFileSync(path, 'utf8')) as Workflow;
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0);
      for (const { uses } of job.steps) if (uses !== undefined) expect(uses).toMatch(/@v\d+\.\d+\.\d+$/);
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
