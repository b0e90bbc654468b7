import { expect, it } from 'vitest';
import { parley } from '../../../support/processes/command-line.ts';
import { withService } from '../../../support/service.ts';

/** `parley evaluate` in a pipeline: when it fails, and what it says then. */
const { make, service, upstream } = await withService('model');
const ann = await make.person();
const datasetId = await agentWithCases('Lamps', 'parley/offline');
const otherId = await agentWithCases('Tables', 'openai/test-model');

async function agentWithCases(name: string, modelId: string): Promise<string> {
  const { id } = await make.agent({ owner: ann, name, modelId });
  const create = 'mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Cases" }) { id } }';
  const made = (await ann.graphql(create, { id })).data.createDataset.id as string;
  const cases = Array.from({ length: 3 }, (_, index) => ({ question: `Who wrote book ${index}?`, mustContain: ['not'] }));
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  await ann.graphql(add, { id: made, cases });
  return made;
}

const evaluate = (line: string) => parley(`evaluate ${line}`, { PARLEY_URL: service.url, PARLEY_API_KEY: ann.key ?? '' });
const experiments = async () => {
  const { rows } = await service.deps.storage.db.pool.query('select status from experiments order by "createdAt"');
  return rows.map(({ status }) => status as string);
};

it.each([
  ['no number', '--agent Lamps --fail-below abc', '--fail-below must be a number, not "abc".\n'],
  [
    'a folder that there is not',
    '--agent Lamps --junit /nowhere/here.xml',
    '--junit: no file can be written to the folder /nowhere.\n',
  ],
])('refuses %s before it asks anything', async (_what, line, err) => {
  const before = await experiments();
  expect(await evaluate(line)).toEqual({ code: 2, out: '', err });
  expect(await experiments()).toEqual(before);
});

it('compares no version with itself', async () => {
  const { code, err } = await evaluate(`--agent Lamps --dataset ${datasetId} --version 1 --against published`);
  expect([code, err]).toEqual([2, '--version and --against both name version 1: there is nothing to compare.\n']);
  expect((await experiments()).at(-1)).toBe('CANCELLED');
});

it('fails where questions have no answer, whatever the rate of the rest', { timeout: 60_000 }, async () => {
  upstream.otherwise(({ body }) =>
    JSON.stringify(body).includes('book 1') ? { status: 400, body: '{"error":{"message":"no"}}' } : { text: 'I do not know.' },
  );
  const { code, out, err } = await evaluate(`--agent Tables --dataset ${otherId} --fail-below 90`);
  expect(out).toMatch(/^draft: 100\.0 % \(100\.0 % to 100\.0 %\) of 2 cases pass, 1 were not answered\n/);
  expect([code, err]).toEqual([1, '1 questions were not answered\n']);
  upstream.otherwise({ text: 'I do not know.' });
  expect((await evaluate(`--agent Tables --dataset ${otherId} --fail-below 90`)).code).toBe(0);
});
