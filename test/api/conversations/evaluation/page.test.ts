import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parley } from '../../../support/processes/command-line.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

/** docs/evaluation.md, step by step, with the built-in model. */
const { make, service } = await withService();
const page = readFileSync('docs/evaluation.md', 'utf8');
const blocks = [...page.matchAll(/```(graphql|sh)\n([\s\S]*?)```/g)].map(([, language = '', text = '']) => ({ language, text }));
const ids = { ai_: '', dset_: '', exper_: '' };
const ann = await make.person();
ids.ai_ = (await make.agent({ owner: ann, name: 'Lamps', modelId: 'parley/offline' })).id;

const filled = (text: string) => text.replaceAll(/(ai_|dset_|exper_)…/g, (_all, kind: keyof typeof ids) => ids[kind]);
const ended = (id: string) =>
  eventually(async () => {
    const { data } = await ann.graphql('query ($id: ID!) { experiment(id: $id) { summary { variants { rate } } } }', { id });
    expect(data.experiment.summary).not.toBeNull();
  }, 30_000);

/** The operations of a block: each begins at the start of a line. */
const operationsIn = (text: string) => text.split(/\n(?=(?:query|mutation) )/).filter((one) => one.trim() !== '');

it('every step of the page does what it says', { timeout: 120_000 }, async () => {
  const replies: Record<string, unknown>[] = [];
  for (const { language, text } of blocks) {
    if (language === 'sh') {
      const line = text.trim().replace(/^parley /, '');
      const { code, out, err } = await parley(line, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key ?? '' });
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^draft: 100\.0 % \(100\.0 % to 100\.0 %\) of 4 cases pass, 0 were not answered\n/);
      const low = await parley(line.replace('50', '101'), { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key ?? '' });
      expect(low.code).toBe(1);
      expect(low.err).toContain('The rate of 100.0 % is below 101 %');
      continue;
    }
    for (const operation of operationsIn(text)) {
      const { data, errors } = await ann.graphql(filled(operation));
      expect(errors, operation).toBeUndefined();
      replies.push(data);
      ids.dset_ = data.createDataset?.id ?? ids.dset_;
      ids.exper_ = data.runExperiment?.id ?? ids.exper_;
      const begunId = data.runExperiment?.id ?? data.checkAgentGate?.id;
      if (begunId !== undefined) await ended(begunId);
    }
  }
  const all = Object.assign({}, ...replies);
  expect(all.importDatasetCases).toEqual({ revision: 2, caseCount: 4 });
  expect(all.datasetExport.content.split('\n')).toHaveLength(5);
  expect(all.runExperiment).toMatchObject({ plannedCount: 8 });
  expect(all.experiment).toMatchObject({ status: 'DONE', doneCount: 8, summary: { variants: [{ rate: 1, caseCount: 4 }] } });
  expect(all.experimentPairs.nodes).toHaveLength(4);
  expect(all.experimentReport.content).toContain('tests="8" failures="0"');
  expect(all.publishAgent).toEqual({ number: 2 });
  expect(all.agentGate.report.verdict).toBe('PASSED');
});
