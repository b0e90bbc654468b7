import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { documents, ParleyClient } from '@parley/client';

const { PARLEY_URL = 'http://127.0.0.1:4000', PARLEY_KEY } = process.env;
if (PARLEY_KEY === undefined) throw new Error('PARLEY_KEY is missing');
const [, , path] = process.argv;
if (path === undefined) throw new Error('name a file that the agent is to answer from: npm start handbook.md');
const parley = new ParleyClient({ url: PARLEY_URL, apiKey: PARLEY_KEY });
const bar = (part: number, width = 30) => '█'.repeat(Math.round(part * width)).padEnd(width, '·');
const redraw = (line: string) => process.stdout.write(`\r\x1b[K${line}`);

// An agent, and the file as its knowledge: the upload and the reading of it are shown while they happen.
const { createAgent: agent } = await parley.graphql(documents.CreateAgentDocument, {
  input: {
    name: 'Reader',
    description: 'Answers from one file',
    instructions: 'Answer from your knowledge, and cite it.',
    pictureUrl: 'https://example.com/reader.png',
  },
});
const { addFileDataSource: source } = await parley.upload(
  documents.AddFileDataSourceDocument,
  { agentId: agent.id, file: new File([await openAsBlob(path)], basename(path)) },
  { onProgress: ({ sentBytes, totalBytes }) => redraw(`sending  ${bar(sentBytes / totalBytes)}`) },
);
for (;;) {
  const { dataSource: state } = await parley.graphql(documents.SourceQueryDocument, { id: source.id });
  redraw(`reading  ${bar((state?.indexPercentage ?? 0) / 100)} ${state?.indexStatus}`);
  if (state?.indexStatus === 'INDEXED') break;
  if (state?.indexStatus === 'FAILED') throw new Error(state.errorMessage ?? 'the file could not be read');
  await new Promise((resolve) => setTimeout(resolve, 200));
}

// A chat whose answers are shown token by token, with the passages that they cite.
const { createChat: chat } = await parley.graphql(documents.CreateChatDocument, { agentId: agent.id });
async function show(runId: string): Promise<void> {
  for await (const { runEvents: event } of parley.follow(documents.RunEventsSubscriptionDocument, { runId })) {
    if (event.__typename === 'TextDelta') process.stdout.write(event.delta);
    if (event.__typename === 'CitationAdded') process.stdout.write(`\x1b[2m(${event.citation.name})\x1b[0m`);
    if ('run' in event && event.run.error) process.stdout.write(`\n${event.run.error.message}`);
  }
  const last = await newest();
  for (const { index, name, url } of last?.citations ?? []) console.log(`\n  [${index}] ${name} ${url}`);
  console.log((last?.siblingCount ?? 1) > 1 ? `\n  answer ${(last?.siblingIndex ?? 0) + 1} of ${last?.siblingCount}` : '');
}
async function newest() {
  const { chat: now } = await parley.graphql(documents.ChatQueryDocument, { id: chat.id, last: 1 });
  return now?.messages.nodes[0];
}

// What was used, a bar a day.
async function plot(): Promise<void> {
  const from = new Date(Date.now() - 6 * 86_400_000).toISOString();
  const { usage } = await parley.graphql(documents.UsageQueryDocument, { from });
  const most = Math.max(1, ...usage.days.nodes.map(({ apiTokensUsed }) => apiTokensUsed));
  for (const { day, apiTokensUsed } of usage.days.nodes) {
    console.log(`  ${day} ${bar(apiTokensUsed / most)} ${apiTokensUsed} tokens`);
  }
}

console.log(`\nAsk ${agent.name}. An empty line asks for another answer, /usage shows what was used, /end ends.`);
const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
lines.prompt();
for await (const line of lines) {
  if (line === '/end') break;
  if (line === '/usage') await plot();
  else if (line.trim() === '') {
    const answer = await newest();
    if (answer?.role === 'ASSISTANT') {
      const { regenerateMessage: run } = await parley.graphql(documents.RegenerateMessageDocument, { id: answer.id });
      await show(run.id);
    }
  } else {
    const input = { prompt: { text: line } };
    const { sendMessage: run } = await parley.graphql(documents.SendMessageDocument, { chatId: chat.id, input });
    await show(run.id);
  }
  lines.prompt();
}
lines.close();
