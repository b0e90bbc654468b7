import type { SubagentRecord } from '../../../entities/conversations/runs/event.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import type { SubagentFinding } from '../../tools/agents/subagents.ts';
import type { CallPass } from '../../tools/server-tool.ts';
import type { SubagentParent } from './parent.ts';
import { cutNote } from './work.ts';

/** The finding of a researcher that came to its end in a process that died. One that was cancelled has none. */
export function earlierFindingOf(question: string, parent: SubagentParent, pass: CallPass): SubagentFinding | undefined {
  const kept = researcherOf(question, parent, pass);
  const ended = kept?.ended;
  if (ended === undefined || ended.status === 'cancelled') return undefined;
  const found = { subagent: ended, isPaused: false, isOverBudget: false };
  if (ended.status === 'failed') {
    return { ...found, text: '', citations: [], error: { code: 'SERVER_ERROR', message: ended.summary } };
  }
  const said = lastSaid(kept);
  // Its record may lack what it said: readers of the run saw the summary.
  const { text, citations } = said ?? { text: ended.summary, citations: [] };
  const end = said !== undefined && ended.summary.endsWith(cutNote) ? cutNote : '';
  return { ...found, text: text.trimEnd() + end, citations, error: null };
}

/** What is kept of the researcher that the call gave this question. */
export function researcherOf(
  question: string,
  { subagent }: Pick<SubagentParent, 'subagent'>,
  pass: CallPass,
): SubagentRecord | undefined {
  const above = subagent?.id ?? null;
  return pass.before?.findLast((kept) => kept.subagent.task === question && kept.subagent.parentId === above);
}

function lastSaid(
  kept: SubagentRecord | undefined,
): { readonly text: string; readonly citations: readonly Citation[] } | undefined {
  for (const event of kept?.events.toReversed() ?? []) {
    if (event.type !== 'response.output_item.done') continue;
    const { item } = event;
    if (item.type === 'message' && item.text.trim() !== '') return item;
  }
  return undefined;
}
