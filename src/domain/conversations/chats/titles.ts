import { titleMessages } from '../../../engine/models/prompts/title.ts';
import { finishedRun } from '../../../engine/runs/events/fold.ts';
import type { Chat } from '../../../entities/conversations/chats/chat.ts';
import { readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { cutText, oneLine, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { toChatName } from '../runs/thread.ts';

/** The first question of a chat, and the run that answers it. */
export interface FirstTurn {
  readonly chat: Pick<Chat, 'id' | 'agentId'>;
  readonly question: string;
  readonly runId: string;
  readonly modelId: string;
}

const titleTokensMax = 60;
const titleLengthMax = 80;
const titleTimeoutMs = 60_000;

/**
 * Lets the model that answered name a chat, once, after its first answer. The chat has the first words of the question as its name until then, and keeps them
 * when this fails, when its person has named it meanwhile, or when a limit leaves no room. It is charged to the person.
 */
export function nameAfterAnswer(deps: Deps, caller: Caller, turn: FirstTurn): void {
  nameChat(deps, caller, turn).catch((error: unknown) => {
    deps.logger.debug({ err: error, chatId: turn.chat.id }, 'a chat keeps the first words of its question as its name');
  });
}

async function nameChat(deps: Deps, caller: Caller, { chat, question, runId, modelId }: FirstTurn): Promise<void> {
  const firstWords = toChatName(question);
  if (firstWords === null) return;
  const signal = AbortSignal.timeout(deps.settings.RUN_TIMEOUT_MS + titleTimeoutMs);
  const run = await finishedRun(await deps.runs.follow(runId, -1, signal));
  const answer = readAnswerText(run.output);
  if (run.status !== 'completed' || answer.trim() === '') return;
  const events = deps.runs.runStateless(
    {
      kind: 'compaction',
      modelId,
      messages: titleMessages(question, answer),
      tools: [],
      parameters: { maxTokens: titleTokensMax },
      isStreaming: false,
      generateCitations: false,
      hidesSteps: true,
      charge: chargeTo(caller, { agentId: chat.agentId, runId: null }),
    },
    AbortSignal.timeout(titleTimeoutMs),
  );
  const title = cleanTitle(readAnswerText((await finishedRun(events)).output));
  if (title !== '') await deps.storage.conversations.chats.rename(chat.id, firstWords, title);
}

/** The first line, without what models put around a title. */
function cleanTitle(text: string): string {
  const line = storableText(text)
    .split('\n')
    .find((each) => each.trim() !== '');
  const signs = [...oneLine(line ?? '').replace(/^(?:#+|title:)\s*/i, '')];
  const start = signs.findIndex((sign) => !openingSigns.has(sign));
  if (start < 0) return '';
  const end = signs.findLastIndex((sign) => !closingSigns.has(sign));
  const title = signs.slice(start, end + 1).join('');
  return cutText(title.trim(), titleLengthMax);
}

const openingSigns = new Set('"\'“”„«»*');
const closingSigns = new Set('"\'“”«».*');
