import { text as readAll } from 'node:stream/consumers';
import { isObject, membersOf, readElements } from '../../../src/lib/json/json.ts';
import { findAgent } from '../agents.ts';
import { failed, misused } from '../failure.ts';
import { bar, dim, harmless, type Screen } from '../output/screen.ts';
import { isAtRest, percentOf, whenIndexed } from '../sources.ts';
import { agentOption, type CommandContext, type WrittenCommand } from './command.ts';

/** So long an answer waits for knowledge that is still being indexed. */
const indexingWaitMs = 120_000;

export const ask: WrittenCommand = {
  name: 'ask',
  takes: '"<question>"',
  words: [0, Number.POSITIVE_INFINITY],
  summary: 'Asks an agent, and shows the answer as it comes, with its sources',
  details:
    'Waits at most two minutes for knowledge that is still being indexed. Without a question it reads standard input. Nothing is kept: no chat is made. Ctrl-C cancels the run.',
  options: [agentOption, { name: 'model', value: 'id', meaning: 'A model instead of an agent, like parley/offline.' }],
  example: 'ask "How does the backup work?" --agent "Ask the manual"',
  async run(context) {
    const { service, screen, options, switches } = context;
    const question = await questionOf(context);
    const model = options.get('model') ?? (await readyAgent(context));
    const body = { model, generateCitations: true, messages: [{ role: 'user', content: question }] };
    if (switches.has('json')) {
      screen.out(`${JSON.stringify(await service.send('POST', '/api/v1/chat/completions', body), null, 2)}\n`);
      return true;
    }
    let answer = '';
    let isCut = false;
    const citations: Citation[] = [];
    for await (const data of service.events('/api/v1/chat/completions', { ...body, stream: true })) {
      if (data === '[DONE]') break;
      const chunk = membersOf(JSON.parse(data));
      if (isObject(chunk.error)) throw failed(`${String(chunk.error.message)}.`);
      const choice = membersOf(readElements(chunk.choices)[0]);
      const delta = membersOf(choice.delta);
      if (typeof delta.content === 'string') {
        answer += delta.content;
        screen.out(harmless(delta.content));
      }
      citations.push(
        ...readElements(delta.annotations).map((annotation) => membersOf(membersOf(annotation).url_citation) as Citation),
      );
      isCut ||= choice.finish_reason === 'length';
    }
    screen.out('\n');
    showSources(screen, answer, citations);
    if (isCut) screen.err('The answer was cut at its longest allowed length.\n');
    return true;
  },
};

type Citation = { readonly start_index: number; readonly end_index: number; readonly title: string; readonly url: string };

async function questionOf({ words }: CommandContext): Promise<string> {
  const typed = words.join(' ').trim();
  if (typed !== '') return typed;
  const piped = process.stdin.isTTY === true ? '' : (await readAll(process.stdin)).trim();
  if (piped === '') throw misused('ask needs a question: parley ask "What can you do?"');
  return piped;
}

/** The id of the agent, once what it knows is indexed. */
async function readyAgent({ service, screen, options, signal }: CommandContext): Promise<string> {
  const { id } = await findAgent(service, options.get('agent'));
  const show = (sources: Parameters<Parameters<typeof whenIndexed>[3]>[0]) =>
    screen.progress(
      sources.every(isAtRest)
        ? ''
        : `Indexing what the agent knows  ${bar(percentOf(sources), 100)}  ${sources.filter(isAtRest).length}/${sources.length}`,
    );
  const sources = await whenIndexed(service, id, () => true, show, { timeoutMs: indexingWaitMs, signal }).catch(
    (error: unknown) => {
      // A key that may ask may be one that sees no sources.
      signal.throwIfAborted();
      if (error instanceof Error && /\((403|404)\)/.test(error.message)) return [];
      throw error;
    },
  );
  screen.progress('');
  const left = sources.filter((source) => !isAtRest(source)).length;
  if (left > 0) screen.err(`${left} of ${sources.length} sources are still being indexed: the answer does not know them.\n`);
  return id;
}

/** One line for each number in the answer. */
function showSources(screen: Screen, answer: string, citations: readonly Citation[]): void {
  const byMarker = new Map(citations.map((citation) => [answer.slice(citation.start_index, citation.end_index), citation]));
  if (byMarker.size === 0) return;
  const shown = [...byMarker].map(
    ([marker, { title, url }]) => `  ${marker} ${harmless(title)}\n      ${dim(screen, harmless(url))}`,
  );
  screen.out(`\nSources\n${shown.join('\n')}\n`);
}
