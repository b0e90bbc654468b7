import type { FoundDocument, RetrievalDetail } from '../../../entities/conversations/runs/event.ts';
import type { Passage } from '../../../entities/knowledge/citation.ts';
import type { Turn } from '../../../entities/knowledge/searched-question.ts';
import type { ModelMessage } from '../../models/port.ts';
import { type CitedPassage, passagesWithin } from '../../models/prompts/passages.ts';
import type { RunPlan } from '../../plan/plan.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import type { CitablePassages } from '../output/citable.ts';
import type { RunOutput } from '../output/output.ts';

/**
 * Retrieves the passages for a run, emits the step, and makes them citable. An error leaves the answer without
 * passages; it never fails the run.
 */
export async function findPassages(
  plan: RunPlan,
  deps: Pick<LoopDeps, 'retrieve' | 'logger'>,
  citable: CitablePassages,
  output: RunOutput,
  runId: string,
  signal: AbortSignal,
): Promise<readonly CitedPassage[]> {
  const { knowledge, messages, inputTokensMax } = plan;
  if (knowledge === undefined) return [];
  const step = (detail: RetrievalDetail) => {
    if (plan.hidesSteps !== true) output.emit({ type: 'parley.step', name: 'retrieve', detail });
  };
  try {
    const earlier = turnsBefore(messages);
    const searchQuestion = { ...knowledge, ...(earlier.length === 0 ? {} : { earlier }), charge: plan.charge };
    const { passages: foundPassages, retrieval, searched: searchedQuestion } = await deps.retrieve(searchQuestion, signal);
    const passages = inputTokensMax === undefined ? foundPassages : passagesWithin(foundPassages, messages, inputTokensMax);
    const numbers = citable.cite(passages);
    const titles = [...new Set(passages.map((passage) => passage.title))];
    step({
      passages: passages.length,
      titles,
      documents: listDocuments(passages),
      retrieval,
      ...(searchedQuestion.rewrite === 'none' ? {} : { searched: searchedQuestion }),
    });
    return passages.map((passage, index) => ({ passage, number: numbers[index] ?? index + 1 }));
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.error({ err: error, runId }, 'retrieval failed; the run continues without passages');
    step({ passages: 0, isUnavailable: true });
    return [];
  }
}

function listDocuments(passages: readonly Passage[]): readonly FoundDocument[] {
  const documents = passages.map(({ knowledgeItemId, dataSourceId, title }) => ({ knowledgeItemId, dataSourceId, title }));
  return [...new Map(documents.map((document) => [document.knowledgeItemId, document])).values()];
}

/** Messages before the question that are looked at. */
const turnsMax = 12;

/** What users and the model said before the last message of a user, oldest first. */
function turnsBefore(messages: readonly ModelMessage[]): readonly Turn[] {
  const question = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(Math.max(0, question - turnsMax), Math.max(0, question))
    .flatMap((message) => (message.role === 'user' || message.role === 'assistant' ? toTurn(message) : []));
}

function toTurn({ role, content }: Extract<ModelMessage, { readonly role: 'user' | 'assistant' }>): readonly Turn[] {
  const parts =
    typeof content === 'string' ? [content] : (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const text = parts.join('\n');
  return text.trim() === '' ? [] : [{ role, text }];
}
