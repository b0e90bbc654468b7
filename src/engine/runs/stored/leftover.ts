import type { RunItem } from '../../../entities/runs/event.ts';
import type { RunFold } from '../fold.ts';
import type { Continuation } from '../loop-deps.ts';
import type { ServerCallItem } from '../tools/open-call.ts';

/**
 * How a process leaves a run when it dies. `unsaid`: nothing was said since the run began or went on; it is begun again. `between`: it can go on
 * where it is: the model was about to be asked, or a call of a tool was under way that may be made again. `unknown`: a call was under way that
 * must not be made again. `torn`: in the middle of what a model said.
 */
export type Leftover =
  | { readonly kind: 'unsaid' | 'torn' }
  | { readonly kind: 'between'; readonly continuation: Continuation; readonly closed: readonly RunItem[] }
  | { readonly kind: 'unknown'; readonly call: ServerCallItem };

export function leftoverOf(fold: RunFold): Leftover {
  if (!fold.hasOutput) return { kind: 'unsaid' };
  const { output } = fold.snapshot();
  const last = output.at(-1);
  const { from, inputs } = fold.span;
  const turnFrom = Math.max(from, ...inputs.map(({ at }) => at));
  if (last?.type === 'server_tool_call_output') {
    return { kind: 'between', continuation: { call: undefined, turnFrom }, closed: output };
  }
  if (last?.type !== 'server_tool_call' || last.status !== 'in_progress') return { kind: 'torn' };
  if (fold.lostCallRule === 'unknown') return { kind: 'unknown', call: last };
  if (fold.lostCallRule !== 'repeat') return { kind: 'torn' };
  return { kind: 'between', continuation: { call: last, turnFrom }, closed: output.slice(0, -1) };
}
