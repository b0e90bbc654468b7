import type { RunEvent, RunEventBody, RunItem, RunSnapshot } from '../../../entities/run-event.ts';
import type { RunFold } from '../fold.ts';
import { snapshot } from '../loop.ts';

/**
 * The events that end a run whose process died in the middle: what it had said is closed as incomplete and kept, and the run failed; or
 * was cancelled, when somebody had asked for that.
 */
export function closingOf(fold: RunFold, runId: string, isCancelled: boolean): readonly RunEvent[] {
  const bodies: RunEventBody[] = [];
  let run: RunSnapshot;
  if (fold.lastSequence < 0) {
    run = snapshot(runId, 'in_progress', []);
    bodies.push({ type: 'response.created', run });
  } else run = fold.snapshot();
  const output = run.output.map((item) => (item.status === 'in_progress' ? cut(item) : item));
  for (const [outputIndex, item] of output.entries()) {
    if (run.output[outputIndex] !== item) bodies.push(...closing(outputIndex, item));
  }
  const ended = { ...run, output };
  if (isCancelled) bodies.push({ type: 'response.incomplete', run: { ...ended, status: 'cancelled' } });
  else {
    const error = { code: 'SERVER_ERROR', message: 'The answer was interrupted and could not be continued' } as const;
    bodies.push({ type: 'response.failed', run: { ...ended, status: 'failed', error } });
  }
  return bodies.map((body, index) => ({ sequence: fold.lastSequence + 1 + index, ...body }));
}

function cut(item: RunItem): RunItem {
  return item.type === 'server_tool_call' || item.type === 'server_tool_call_output'
    ? { ...item, status: 'failed' }
    : { ...item, status: 'incomplete' };
}

function closing(outputIndex: number, item: RunItem): RunEventBody[] {
  const done: RunEventBody = { type: 'response.output_item.done', outputIndex, item };
  if (item.type === 'message') {
    const { id: itemId, text, citations } = item;
    return [
      { type: 'response.output_text.done', outputIndex, itemId, text },
      { type: 'response.content_part.done', outputIndex, itemId, text, citations },
      done,
    ];
  }
  if (item.type === 'function_call') {
    const { id: itemId, name, arguments: args } = item;
    return [{ type: 'response.function_call_arguments.done', outputIndex, itemId, name, arguments: args }, done];
  }
  return [done];
}
