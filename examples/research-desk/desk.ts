import { setTimeout as delay } from 'node:timers/promises';
import { parley } from './parley.ts';

const { PARLEY_MODEL } = process.env;
const question =
  process.argv[2] ??
  'Our store sells 120 bikes a year. What would the new helmet law mean for our stock and its cost? Make a sheet of it, and have it checked.';
/** What only the desk knows; a real desk has its documents here. */
const handbook = [
  '# Handbook of the store',
  'A helmet costs us 24 € and is sold for 49 €. We keep 30 helmets in stock.',
  'Every third customer who buys a bike has no helmet.',
].join('\n\n');

interface Made {
  readonly id: string;
}

/** Makes an agent. Without a model of its own it uses the default model of the service. */
const makeAgent = (members: object) =>
  parley<Made>('POST', '/api/v1/ais', {
    ...{ src: 'https://example.com/desk.png', description: 'Made by the example research-desk', ...members },
    ...(PARLEY_MODEL === undefined ? {} : { modelId: PARLEY_MODEL }),
  });

// 1. A second agent, which the desk may ask. It sees the question that it is asked, and nothing else of the conversation.
const controller = await makeAgent({
  name: 'Controller',
  description: 'Checks calculations of the store.',
  instructions: 'You check calculations. Say in one or two sentences whether the numbers are plausible, and what was forgotten.',
});

// 2. The desk: knowledge, web search, tables, and the controller. `intermediateStepsVisible` lets it show what it did.
const desk = await makeAgent({
  name: 'Research desk',
  instructions:
    'You answer questions of the store. Look into its handbook and search the web for what it does not say. Put numbers into a spreadsheet with formulas, have the Controller check them, and cite your sources.',
  generateCitations: true,
  intermediateStepsVisible: true,
  enabledTools: [{ type: 'web_search' }, { type: 'spreadsheet' }, { type: 'subagent', agents: [controller.id] }],
});
try {
  // 3. Its knowledge: a file, which is indexed in the background.
  const form = new FormData();
  form.set('file', new File([handbook], 'handbook.md', { type: 'text/markdown' }));
  const source = await parley<Made>('POST', `/api/v1/ais/${desk.id}/data-sources/file`, form);
  while ((await parley<{ indexStatus: string }>('GET', `/api/v1/data-sources/${source.id}`)).indexStatus !== 'INDEXED')
    await delay(200);

  // 4. The question.
  const chat = await parley<Made>('POST', `/api/v1/ais/${desk.id}/chats`, {});
  const answer = await parley<{
    readonly runId: string;
    readonly message: { readonly content: string };
    readonly citations?: readonly { readonly index: number; readonly name: string; readonly url: string }[];
    readonly warnings?: readonly { readonly message: string }[];
  }>('POST', `/api/v1/chats/${chat.id}/messages`, { prompt: question });
  for (const { message } of answer.warnings ?? []) console.log(`! ${message}`);
  console.log(answer.message.content);
  for (const { index, name, url } of answer.citations ?? []) console.log(`  [${index}] ${name} ${url}`);

  // 5. What it did.
  const trace = await parley<{
    readonly modelCalls: readonly { readonly modelId: string; readonly inputTokens: number; readonly outputTokens: number }[];
    readonly toolCalls: readonly { readonly name: string; readonly outcome: string; readonly durationMs: number | null }[];
    readonly subagents: readonly {
      readonly name: string;
      readonly task: string;
      readonly summary?: string | null;
      readonly status: string;
    }[];
  }>('GET', `/api/v1/runs/${answer.runId}/trace`);
  console.log('\nTrace');
  for (const { modelId, inputTokens, outputTokens } of trace.modelCalls)
    console.log(`  model ${modelId}: ${inputTokens} tokens in, ${outputTokens} out`);
  for (const { name, outcome, durationMs } of trace.toolCalls) console.log(`  tool ${name}: ${outcome} (${durationMs} ms)`);
  for (const { name, task, summary, status } of trace.subagents)
    console.log(`  agent ${name}: ${status}\n    ← ${task}\n    → ${summary}`);
} finally {
  for (const { id } of [desk, controller]) await parley('DELETE', `/api/v1/ais/${id}`);
}
