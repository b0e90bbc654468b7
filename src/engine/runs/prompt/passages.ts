import type { Passage } from '../../../entities/knowledge/citation.ts';
import { CitationMarkers } from '../answer/markers.ts';
import type { RunOutput } from '../answer/output.ts';
import type { LoopDeps } from '../loop-deps.ts';
import type { RunPlan } from '../run-engine.ts';
import { passagesWithin } from './context.ts';
import { turnsBefore } from './turns.ts';

/**
 * Retrieves the passages for a run, emits the step, and makes them citable. An error leaves the answer without
 * passages; it never fails the run.
 */
export async function findPassages(
  plan: RunPlan,
  deps: Pick<LoopDeps, 'retrieve' | 'logger'>,
  citable: Passage[],
  output: RunOutput,
  runId: string,
  signal: AbortSignal,
): Promise<readonly Passage[]> {
  const { knowledge, generateCitations, messages, inputTokensMax } = plan;
  if (knowledge === undefined) return [];
  const step = (detail: Readonly<Record<string, unknown>>) => {
    if (plan.hidesSteps !== true) output.emit({ type: 'parley.step', name: 'retrieve', detail });
  };
  try {
    const earlier = turnsBefore(messages);
    const asked = { ...knowledge, ...(earlier.length === 0 ? {} : { earlier }), charge: plan.charge };
    const { passages: found, retrieval, searched } = await deps.retrieve(asked, signal);
    const passages = inputTokensMax === undefined ? found : passagesWithin(found, messages, inputTokensMax);
    cite(passages, citable, generateCitations, output);
    const titles = [...new Set(passages.map((passage) => passage.title))];
    step({ passages: passages.length, titles, retrieval, ...(searched.rewrite === 'none' ? {} : { searched }) });
    return passages;
  } catch (error) {
    signal.throwIfAborted();
    deps.logger.error({ err: error, runId }, 'retrieval failed; the run continues without passages');
    step({ passages: 0, isUnavailable: true });
    return [];
  }
}

/**
 * Makes passages citable in the messages from now on.
 *
 * @param citable  all passages of the run so far; the new ones are added.
 * @returns the number of the first new one.
 */
export function cite(passages: readonly Passage[], citable: Passage[], isCiting: boolean, output: RunOutput): number {
  const first = citable.length + 1;
  citable.push(...passages);
  if (citable.length > 0) output.watchMarkers(() => new CitationMarkers(citable, isCiting));
  return first;
}
