import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };

const folder = fileURLToPath(new URL('../../../.github/workflows/', import.meta.url));

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

describe.each(readdirSync(folder))('.github/workflows/%s', (name) => {
  const text = readFileSync(`${folder}${name}`, 'utf8');
  const workflow: Workflow = parse(text);
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

  it('names the version beside the commit of each action', () => {
    const lines = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('runs scripts that there are', () => {
    const named = steps.flatMap(({ run = '' }) => [...run.matchAll(/npm run ([\w:-]+)/g)].map(([, script]) => script ?? ''));
    for (const script of named) expect(Object.keys(manifest.scripts)).toContain(script);
  });
});
