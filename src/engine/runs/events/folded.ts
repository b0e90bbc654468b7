import { isLast, type RunEvent } from '../../../entities/conversations/runs/event.ts';

/**
 * The events of a run that is over whose fold is its state: its beginning, messages that others added, listings of tools, and its end. What the end
 * records of the work (calls, questions that were searched) is left out, because it is deleted with the events. Undefined: the log has no such end.
 */
export function foldEvents(events: readonly RunEvent[]): readonly RunEvent[] | undefined {
  const [first] = events;
  const last = events.at(-1);
  if (first?.type !== 'response.created' || last === undefined || !isLast(last) || !('run' in last)) return undefined;
  // Added messages have their places between finished items.
  const hasInputs = events.some(({ type }) => type === 'parley.input');
  const between = events.filter(
    (event) =>
      event.type === 'parley.input' ||
      (event.type === 'response.output_item.done' && (hasInputs || event.item.type === 'mcp_list_tools')),
  );
  const { record: _record, ...run } = last.run;
  return [first, ...between, { ...last, run }];
}
