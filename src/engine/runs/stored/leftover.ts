import type { RunItem, ServerCallItem } from '../../../entities/conversations/runs/event.ts';
import type { Continuation } from '../control/loop-deps.ts';
import type { RunFold } from '../events/fold.ts';

/**
 * The state in which a dead process left a run. `unsaid`: no output since the run began or continued; it is restarted. `between`:
 * it can continue: the model was about to be asked, or a tool call was under way that may be made again. `unknown`: a tool call was
 * under way that must not be made again. `torn`: in the middle of a model's answer.
 */
export type Leftover =
  | { readonly kind: 'unsaid' | 'torn' }
  | { readonly kind: 'between'; readonly continuation: Continuation; readonly closed: readonly RunItem[] }
  | { readonly kind: 'unknown'; readonly call: ServerCallItem };

export function toLeftover(fold: RunFold): Leftover {
  if (!fold.hasOutput) return { kind: 'unsaid' };
  const { output } = fold.snapshot();
  const last = output.at(-1);
  const { from, inputs } = fold.span;
  const turnFrom = Math.max(from, ...inputs.map(({ at }) => at));
  const isClosed = last?.type === 'server_tool_call' && last.form !== undefined && last.status !== 'in_progress';
  if (last?.type === 'server_tool_call_output' || last?.type === 'mcp_list_tools' || isClosed || fold.isBetweenSteps) {
    return { kind: 'between', continuation: { call: undefined, turnFrom }, closed: output };
  }
  if (last?.type !== 'server_tool_call' || last.status !== 'in_progress') return { kind: 'torn' };
  if (fold.lostCallRule === 'unknown') return { kind: 'unknown', call: last };
  if (fold.lostCallRule !== 'repeat') return { kind: 'torn' };
  return {
    kind: 'between',
    continuation: { call: last, turnFrom, subagents: fold.subagentRecords },
    closed: output.slice(0, -1),
  };
}
