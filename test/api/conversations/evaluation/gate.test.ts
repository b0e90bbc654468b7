import { expect, it } from 'vitest';
import type { Person } from '../../../support/make.ts';
import { eventually } from '../../../support/processes/eventually.ts';
import { withService } from '../../../support/service.ts';

const { make, upstream } = await withService('model');
const organization = await make.organization();
const ann = await make.person({ organization });
const editor = await make.person({ organization });

const publish = (who: Person, id: string, overrideReason?: string) =>
  who.graphql(
    'mutation ($id: ID!, $overrideReason: String) { publishAgent(id: $id, overrideReason: $overrideReason) { number overrideReason } }',
    { id, overrideReason },
  );
const setGate = (who: Person, agentId: string, input: object) =>
  who.graphql(
    'mutation ($agentId: ID!, $input: SetAgentGateInput!) { setAgentGate(agentId: $agentId, input: $input) { mustTag rateDropMax costRatioMax report { verdict } } }',
    { agentId, input: { tokensMax: 100_000, ...input } },
  );
const report = async (agentId: string) =>
  (await ann.graphql('query ($id: ID!) { agentGate(agentId: $id) { report { verdict reasons experimentId } } }', { id: agentId }))
    .data.agentGate.report;
const instruct = (agentId: string, instructions: string) =>
  ann.graphql('mutation ($id: ID!, $input: UpdateAgentInput!) { updateAgent(id: $id, input: $input) { id } }', {
    id: agentId,
    input: { instructions },
  });

/** An agent whose answers its instructions decide, with two cases that its published version answers right. */
async function gatedAgent() {
  const { id } = await make.agent({ owner: ann, editors: [{ id: editor.userId }], instructions: 'RIGHT RIGHT' });
  await ann.graphql('mutation ($id: ID!) { setAgentPublishing(id: $id, publishing: ON_REQUEST) { id } }', { id });
  const made = await ann.graphql('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Gate" }) { id } }', { id });
  const datasetId = made.data.createDataset.id;
  const cases = [
    { question: 'Question 0?', mustContain: ['right'], tags: ['must'] },
    { question: 'Question 1?', mustContain: ['right'] },
  ];
  await ann.graphql(
    'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }',
    { id: datasetId, cases },
  );
  // The n-th word of the instructions is the answer to question n.
  upstream.otherwise(({ body }) => {
    const [system, question] = (body?.messages ?? []) as readonly { readonly content: string }[];
    const place = Number(/Question (\d)/.exec(question?.content ?? '')?.[1] ?? 0);
    return { text: system?.content.split(' ')[place] ?? '' };
  });
  return { id, datasetId };
}

it('a draft is published when the gate lets it pass, and asked once for the same draft', async () => {
  const { id, datasetId } = await gatedAgent();
  const gate = await setGate(ann, id, { datasetId, mustTag: 'must', rateDropMax: 2, costRatioMax: 1.1 });
  expect(gate.data.setAgentGate).toEqual({
    mustTag: 'must',
    rateDropMax: 2,
    costRatioMax: 1.1,
    report: { verdict: 'NOT_ASKED' },
  });
  await instruct(id, 'RIGHT RIGHT .');
  const checked = await ann.graphql('mutation ($id: ID!) { checkAgentGate(agentId: $id) { id variants { version } } }', { id });
  expect(checked.data.checkAgentGate.variants).toEqual([{ version: '1' }, { version: 'draft' }]);
  await eventually(async () => expect((await report(id)).verdict).toBe('PASSED'));
  expect((await report(id)).experimentId).toBe(checked.data.checkAgentGate.id);
  const published = await publish(ann, id);
  expect(published.errors).toBeUndefined();
  expect(published.data.publishAgent).toEqual({ number: 2, overrideReason: null });
  const asked = await ann.graphql('query ($id: ID!) { experiments(agentId: $id) { totalCount } }', { id });
  expect(asked.data.experiments.totalCount).toBe(1);
});

it('a refusal names the cases, and the owner overrides it with a reason that the version shows', async () => {
  const { id, datasetId } = await gatedAgent();
  await setGate(ann, id, { datasetId, mustTag: 'must', rateDropMax: 2 });
  await instruct(id, 'WRONG RIGHT');
  const refused = await publish(ann, id);
  expect(refused.errors?.[0]?.extensions.code).toBe('CONFLICT');
  expect(refused.errors?.[0]?.message).toMatch(
    /^The gate of the agent refuses: a case tagged must failed: “Question 0\?” \(case_\w+\); its rate is 50 %, and that of the published version 100 %: at most 2 points less are allowed\. The answers are in the experiment exper_/,
  );
  expect(await report(id)).toMatchObject({
    verdict: 'REFUSED',
    reasons: [expect.stringContaining('Question 0?'), expect.any(String)],
  });
  // A canary reaches people too.
  const canary = (overrideReason?: string) =>
    ann.graphql(
      'mutation ($id: ID!, $overrideReason: String) { startCanary(id: $id, percent: 5, overrideReason: $overrideReason) { canary { version } } }',
      { id, overrideReason },
    );
  expect((await canary()).errors?.[0]?.message).toMatch(/^The gate of the agent refuses: a case tagged must failed/);
  expect((await canary('Only five of a hundred')).data.startCanary.canary).toEqual({ version: 2 });
  await ann.graphql('mutation ($id: ID!) { endCanary(id: $id, keep: PUBLISHED) { id } }', { id });
  expect((await publish(editor, id, 'It is urgent')).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  const overridden = await publish(ann, id, 'The case is out of date');
  expect(overridden.data.publishAgent).toEqual({ number: 3, overrideReason: 'The case is out of date' });
  // What REST changes takes effect at once, as its contract says.
  await instruct(id, 'WRONG WRONG');
  expect((await ann.patch(`/api/v1/ais/${id}`, { description: 'Wrong on purpose.' })).status).toBe(200);
  const { data } = await ann.graphql('query ($id: ID!) { agent(id: $id) { publishedVersion draft { isChanged } } }', { id });
  expect(data.agent).toEqual({ publishedVersion: 4, draft: { isChanged: true } });
});

it('a gate is set by the owner, with rules that mean something, and taken away', async () => {
  const { id, datasetId } = await gatedAgent();
  expect((await setGate(editor, id, { datasetId, mustTag: 'must' })).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  expect((await setGate(ann, id, { datasetId })).errors?.[0]?.message).toMatch(/A gate needs a rule/);
  expect((await setGate(ann, id, { datasetId, mustTag: 'must', tokensMax: 0 })).errors?.[0]?.message).toMatch(
    /tokensMax must be/,
  );
  const atOnce = await make.agent({ owner: ann });
  const other = await ann.graphql('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Gate" }) { id } }', {
    id: atOnce.id,
  });
  const early = await setGate(ann, atOnce.id, { datasetId: other.data.createDataset.id, mustTag: 'must' });
  expect(early.errors?.[0]?.message).toMatch(/take effect at once/);
  await setGate(ann, id, { datasetId, mustTag: 'must' });
  const remove = () => ann.graphql('mutation ($id: ID!) { removeAgentGate(agentId: $id) { mustTag } }', { id });
  expect((await remove()).data.removeAgentGate.mustTag).toBe('must');
  expect((await remove()).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  await instruct(id, 'WRONG WRONG');
  expect((await publish(ann, id)).errors).toBeUndefined();
});

it('a draft that does not answer, or whose answers cannot be scored, does not pass for the rate of the rest', async () => {
  const { id, datasetId } = await gatedAgent();
  await setGate(ann, id, { datasetId, rateDropMax: 5 });
  await instruct(id, 'BROKEN');
  upstream.otherwise(({ body }) => (JSON.stringify(body).includes('BROKEN') ? { status: 400 } : { text: 'right' }));
  expect((await publish(ann, id)).errors?.[0]?.message).toMatch(
    /2 more questions than of the published version were not answered; no case has a scored answer of both versions/,
  );
  expect((await report(id)).verdict).toBe('REFUSED');
  // Nothing in this dataset can be scored: a rule about rates says nothing of it.
  const empty = await ann.graphql('mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Empty" }) { id } }', { id });
  const emptyId = empty.data.createDataset.id;
  await ann.graphql('mutation ($id: ID!) { addDatasetCases(datasetId: $id, cases: [{ question: "Why?" }]) { id } }', {
    id: emptyId,
  });
  await instruct(id, 'RIGHT');
  await setGate(ann, id, { datasetId: emptyId, rateDropMax: 5 });
  expect((await publish(ann, id)).errors?.[0]?.message).toMatch(/no case has a scored answer of both versions/);
});

it('without prices, tokens stand for the cost', async () => {
  const { id, datasetId } = await gatedAgent();
  await setGate(ann, id, { datasetId, costRatioMax: 1.5 });
  await instruct(id, 'RIGHT LONG');
  const used = (tokens: number) => ({ text: 'right', usage: { prompt_tokens: 10, completion_tokens: tokens } });
  upstream.otherwise(({ body }) => used(JSON.stringify(body).includes('LONG') ? 30 : 10));
  expect((await publish(ann, id)).errors?.[0]?.message).toMatch(
    /it uses tokens of 2 × the published version: at most 1.5 × are allowed/,
  );
  await setGate(ann, id, { datasetId, costRatioMax: 2 });
  expect((await publish(ann, id)).errors).toBeUndefined();
});
