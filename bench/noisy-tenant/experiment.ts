import { setTimeout as wait } from 'node:timers/promises';
import { quantile } from '../completions/load.ts';
import { cores, start, untilIdle } from '../completions/processes.ts';

/**
 * `npm run bench:experiment [-- <cases>]`: an experiment of 1,000 cases × 2 versions on the built-in model, beside the same questions asked as
 * completions, four at one time; its memory; and how long answers in chats of another tenant take meanwhile. The service is on one core. Uses the
 * embedded database, or the disposable one of `DATABASE_URL`. Exits with status 1 when a bound is not met.
 */
const ratioMax = { time: 2, people: 1.2, heap: 1.5 };
const [casesText = '1000'] = process.argv.slice(2);
const caseCount = Number(casesText);
const versionCount = 2;
/** As many as an experiment asks at one time. */
const askedAtOnce = 4;
const casesAtOnce = 500;
const aloneMs = 20_000;
const personPauseMs = 25;
/** A chat does not grow without end. */
const questionsPerChat = 10;
const sampleMs = 250;

const child = await start<{ url: string; noisyKey: string; quietKey: string }>('../noisy-tenant/server.ts', [], cores.service, [
  '--expose-gc',
]);
const { url, noisyKey, quietKey } = child.ready;
let isMet = true;
try {
  const agentId = await makeAgent(noisyKey);
  const personAgentId = await makeAgent(quietKey);
  const datasetId = await makeDataset(agentId);
  await untilIdle(child);

  // Both are compiled before they are measured.
  await bareRuns(agentId, 200);
  const bareMs = await bareRuns(agentId, caseCount * versionCount);
  const alone = await runExperiment(agentId, datasetId, { readsHeap: false });
  const before = await heapMb();
  const { heapsMb } = await runExperiment(agentId, datasetId, { readsHeap: true });
  const peakMb = Math.max(...heapsMb);
  await untilIdle(child);

  const firstAlone = await askInChats(personAgentId, () => wait(aloneMs));
  let beside: ExperimentTimes | undefined;
  const meanwhile = await askInChats(personAgentId, async () => {
    beside = await runExperiment(agentId, datasetId, { readsHeap: false });
  });
  const lastAlone = await askInChats(personAgentId, () => wait(aloneMs));
  const people = [...firstAlone, ...lastAlone].sort((one, other) => one - other);

  console.log('| measured | bare | with the experiment | ratio | bound |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  const row = (name: string, bare: number, other: number, unit: string, max: number | undefined) => {
    const ratio = other / bare;
    if (max !== undefined && ratio > max) isMet = false;
    const bound = max === undefined ? '' : `≤ ${max}`;
    console.log(`| ${name} | ${bare.toFixed(1)} ${unit} | ${other.toFixed(1)} ${unit} | ${ratio.toFixed(2)} | ${bound} |`);
  };
  row(`${caseCount} cases × ${versionCount} versions`, bareMs / 1_000, alone.tookMs / 1_000, 's', ratioMax.time);
  row('heap: before it, and at its peak', before, peakMb, 'MB', ratioMax.heap);
  row('an answer in a chat, median', quantile(people, 0.5), quantile(meanwhile, 0.5), 'ms', undefined);
  row('an answer in a chat, p99', quantile(people, 0.99), quantile(meanwhile, 0.99), 'ms', ratioMax.people);
  console.log(
    `${people.length} answers alone, ${meanwhile.length} beside the experiment, which took ${((beside?.tookMs ?? 0) / 1_000).toFixed(1)} s then`,
  );
} finally {
  await child.stop();
}
process.exit(isMet ? 0 : 1);

async function call<Reply>(key: string, path: string, body: unknown): Promise<Reply> {
  const reply = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as Reply;
}

async function graphql(key: string, query: string, variables: object): Promise<Readonly<Record<string, unknown>>> {
  const { data, errors } = await call<{ data: Readonly<Record<string, unknown>>; errors?: unknown }>(key, '/graphql', {
    query,
    variables,
  });
  if (errors !== undefined) throw new Error(JSON.stringify(errors));
  return data;
}

/** An agent with two versions. */
async function makeAgent(key: string): Promise<string> {
  const created = await graphql(
    key,
    'mutation { createAgent(input: { name: "Lamps", description: "Knows lamps.", instructions: "Be brief.", modelId: "parley/offline" }) { id } }',
    {},
  );
  const { id } = created.createAgent as { readonly id: string };
  await graphql(key, 'mutation ($id: ID!) { updateAgent(id: $id, input: { instructions: "Be very brief." }) { id } }', { id });
  return id;
}

async function makeDataset(agentId: string): Promise<string> {
  const created = await graphql(
    noisyKey,
    'mutation ($id: ID!) { createDataset(agentId: $id, input: { name: "Lamps" }) { id } }',
    {
      id: agentId,
    },
  );
  const { id } = created.createDataset as { readonly id: string };
  const cases = Array.from({ length: caseCount }, (_, index) => ({
    question: question(index),
    messages: [{ role: 'USER', content: `Lamp ${index} costs ${index} francs.` }],
    mustContain: ['francs'],
  }));
  const add = 'mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }';
  for (let at = 0; at < cases.length; at += casesAtOnce)
    await graphql(noisyKey, add, { id, cases: cases.slice(at, at + casesAtOnce) });
  return id;
}

function question(index: number): string {
  return `What does lamp ${index} cost?`;
}

/** The same questions as completions of the agent. @returns how long they took. */
async function bareRuns(agentId: string, count: number): Promise<number> {
  const startedMs = performance.now();
  let next = 0;
  const asker = async () => {
    while (next < count) {
      const index = next % caseCount;
      next += 1;
      const messages = [
        { role: 'user', content: `Lamp ${index} costs ${index} francs.` },
        { role: 'user', content: question(index) },
      ];
      await call(noisyKey, '/api/v1/chat/completions', { model: agentId, messages });
    }
  };
  await Promise.all(Array.from({ length: askedAtOnce }, asker));
  return performance.now() - startedMs;
}

interface ExperimentTimes {
  readonly tookMs: number;
  /** After collections of garbage, while it ran. */
  readonly heapsMb: readonly number[];
}

async function runExperiment(
  agentId: string,
  datasetId: string,
  { readsHeap }: { readonly readsHeap: boolean },
): Promise<ExperimentTimes> {
  const startedMs = performance.now();
  const input = { versions: ['1', '2'], datasetId, tokensMax: 1_000_000_000 };
  const run = 'mutation ($id: ID!, $input: ExperimentInput!) { runExperiment(agentId: $id, input: $input) { id } }';
  const { runExperiment: begun } = await graphql(noisyKey, run, { id: agentId, input });
  const { id } = begun as { readonly id: string };
  const heapsMb: number[] = [];
  for (let turn = 0; ; turn += 1) {
    await wait(sampleMs);
    const { experiment } = await graphql(
      noisyKey,
      'query ($id: ID!) { experiment(id: $id) { status doneCount summary { variants { caseCount } } } }',
      { id },
    );
    const { status, doneCount, summary } = experiment as {
      readonly status: string;
      readonly doneCount: number;
      readonly summary: object | null;
    };
    // Seldom: a whole collection takes time of the service's core.
    if (readsHeap && turn % 8 === 0) heapsMb.push(await heapMb());
    if (status !== 'WAITING' && status !== 'RUNNING' && summary !== null) {
      if (status !== 'DONE' || doneCount !== caseCount * versionCount) throw new Error(`it ended ${status} with ${doneCount}`);
      return { tookMs: performance.now() - startedMs, heapsMb };
    }
  }
}

async function heapMb(): Promise<number> {
  return (await child.ask<{ heapBytes: number }>('memory')).heapBytes / 1e6;
}

/** How long answers in chats take while something goes on: one question after the other, with a pause to read. Sorted. */
async function askInChats(agentId: string, during: () => Promise<unknown>): Promise<readonly number[]> {
  const taken: number[] = [];
  let isOver = false;
  const ending = during().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const chat = await call<{ id: string }>(quietKey, `/api/v1/ais/${agentId}/chats`, { name: 'Lamps' });
    for (let turn = 0; turn < questionsPerChat && !isOver; turn += 1) {
      const startedMs = performance.now();
      await call(quietKey, `/api/v1/chats/${chat.id}/messages`, { prompt: 'The lamp costs 20 francs. What does it cost?' });
      taken.push(performance.now() - startedMs);
      await wait(personPauseMs);
    }
  }
  await ending;
  return taken.sort((one, other) => one - other);
}
