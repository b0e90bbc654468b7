import { expect, it } from 'vitest';
import { pricedModel, pricedModelSettings, pricedUsage } from '../../../support/runs/priced-model.ts';
import { withService } from '../../../support/service.ts';
import { countFewestStatements } from '../../../support/storage/statements.ts';

const { service, make, upstream } = await withService('model', { env: await pricedModelSettings() });
/** Of one answer of the model. */
const answerCost = 0.0012;

it('tells feedback, unanswered questions, cost, times and failed calls of tools apart by version', async () => {
  const organization = await make.organization();
  const ann = await make.person({ organization });
  const cleo = await make.person({ organization });
  const { id } = await make.agent({ owner: ann, visibility: 'ORGANIZATION', modelId: pricedModel });
  const ask = async (who: typeof ann, document: string, variables: object) => {
    return who.ask(document, { ...variables });
  };
  const data = {
    url: 'https://127.0.0.1:1/pay',
    method: 'POST',
    description: 'Pays',
    parameters: { type: 'object', properties: {} },
  };
  await ann.post(`/api/v1/ais/${id}/tools`, { name: 'pay', type: 'API_FUNCTION', data });
  upstream.otherwise(({ body }) => {
    const text = JSON.stringify(body?.messages);
    const calls = text.includes('Pay it') && !text.includes('"role":"tool"');
    return calls
      ? { toolCalls: [{ id: 'call_1', name: 'pay', arguments: '{}' }], usage: pricedUsage }
      : { text: 'There.', usage: pricedUsage };
  });
  /** @returns the answer and the version that gave it. */
  const say = async (prompt: string) => {
    const chat = await make.chat({ owner: cleo, agentId: id });
    await cleo.post(`/api/v1/chats/${chat.id}/messages`, { prompt });
    const query = 'query ($id: ID!) { chat(id: $id) { messages(last: 1) { nodes { id runId agentVersion } } } }';
    const [answer] = (await ask(cleo, query, { id: chat.id })).chat.messages.nodes;
    return answer as { readonly id: string; readonly runId: string; readonly agentVersion: number };
  };
  const rate = (messageId: string, rating: string) =>
    ask(cleo, 'mutation ($id: ID!, $input: RateMessageInput!) { rateMessage(id: $id, input: $input) { id } }', {
      id: messageId,
      input: { rating },
    });
  const paid = await say('Pay it');
  await rate((await say('And now?')).id, 'DOWN');
  await ask(ann, 'mutation ($id: ID!) { updateAgent(id: $id, input: { instructions: "Be brief." }) { id } }', { id });
  const last = await say('And then?');
  await rate(last.id, 'UP');
  expect(last.agentVersion).toBe(paid.agentVersion + 1);

  const statistics = `query ($id: ID!) { agentVersionStatistics(agentId: $id) { version toolErrorCount unansweredCount
    figures { runCount completedCount ratedUpCount ratedDownCount cost unpricedCount inputTokens outputTokens durationMs { p50 } } } }`;
  const rows = (await ask(ann, statistics, { id })).agentVersionStatistics;
  const answers = (count: number) => ({
    ...{ unpricedCount: 0, inputTokens: count * 1_000, outputTokens: count * 500 },
    ...{ cost: expect.closeTo(count * answerCost, 10), durationMs: { p50: expect.any(Number) } },
  });
  expect(rows).toEqual([
    {
      ...{ version: last.agentVersion, toolErrorCount: 0, unansweredCount: 0 },
      figures: { runCount: 1, completedCount: 1, ratedUpCount: 1, ratedDownCount: 0, ...answers(1) },
    },
    {
      ...{ version: paid.agentVersion, toolErrorCount: 1, unansweredCount: 1 },
      figures: { runCount: 2, completedCount: 2, ratedUpCount: 0, ratedDownCount: 1, ...answers(3) },
    },
  ]);

  // The page of a run reads its version with the run.
  const page = (members: string) => `query ($id: ID!) { run(id: $id) { status ${members} } }`;
  const statementsOf = async (members: string) =>
    (await countFewestStatements(service, () => ask(cleo, page(members), { id: last.runId }))).statements.length;
  expect(await statementsOf('agentVersion')).toBe(await statementsOf(''));
});
