import type { SubagentRecord } from '../../../entities/conversations/runs/event.ts';
import type { Citation } from '../../../entities/knowledge/citation.ts';
import type { SubagentFinding } from '../../tools/agents/subagents.ts';
import type { CallPass } from '../../tools/server-tool.ts';
import type { SubagentParent } from './parent.ts';
import { cutNote } from './work.ts';

/** The finding of a researcher that came to its end in a process that died. One that was cancelled has none. */
export function findEarlierFinding(question: string, parent: SubagentParent, pass: CallPass): SubagentFinding | undefined {
  const keptRecord = findResearcher(question, parent, pass);
  const endedSubagent = keptRecord?.ended;
  if (endedSubagent === undefined || endedSubagent.status === 'cancelled') return undefined;
  const earlierFinding = { subagent: endedSubagent, isPaused: false, isOverBudget: false };
  if (endedSubagent.status === 'failed') {
    return { ...earlierFinding, text: '', citations: [], error: { code: 'SERVER_ERROR', message: endedSubagent.summary } };
  }
  const lastStatement = lastSaid(keptRecord);
  // Its record may lack what it said: readers of the run saw the summary.
  const { text, citations } = lastStatement ?? { text: endedSubagent.summary, citations: [] };
  const end = lastStatement !== undefined && endedSubagent.summary.endsWith(cutNote) ? cutNote : '';
  return { ...earlierFinding, text: text.trimEnd() + end, citations, error: null };
}

/** What is kept of the researcher that the call gave this question. */
export function findResearcher(
  question: string,
  { subagent }: Pick<SubagentParent, 'subagent'>,
  pass: CallPass,
): SubagentRecord | undefined {
  const above = subagent?.id ?? null;
  return pass.before?.findLast(
    (earlierRecord) => earlierRecord.subagent.task === question && earlierRecord.subagent.parentId === above,
  );
}

function lastSaid(
  keptRecord: SubagentRecord | undefined,
): { readonly text: string; readonly citations: readonly Citation[] } | undefined {
  for (const event of keptRecord?.events.toReversed() ?? []) {
    if (event.type !== 'response.output_item.done') continue;
    const { item } = event;
    if (item.type === 'message' && item.text.trim() !== '') return item;
  }
  return undefined;
}
