import type { RunEvent, RunEventStream, ServerCallItem } from '../../../../entities/conversations/runs/event.ts';

/** An event as GraphQL shows it. */
export type ShownEvent<Event extends RunEvent = RunEvent> = Event & {
  readonly runId: string;
  /** Of an event of a call of a tool of the service: the call, when the stream has its beginning or its end. */
  readonly call?: ServerCallItem;
};

/**
 * The events of a run for both APIs. REST reads them in batches, as they are, and its encoders choose. GraphQL reads them one by one: each says
 * which run it belongs to, and events that tell readers nothing, or nothing new, are left out.
 *
 * @param runId  absent where only the first event tells it.
 *
 * Cost: one object for an event.
 */
export function shownEvents(source: RunEventStream, runId?: string): RunEventStream & AsyncIterable<ShownEvent> {
  return {
    batches: () => source.batches(),
    [Symbol.asyncIterator]: () => shown(source, runId),
  };
}

async function* shown(source: RunEventStream, knownId: string | undefined): AsyncGenerator<ShownEvent> {
  let runId = knownId ?? '';
  const calls = new Map<number, ServerCallItem>();
  for await (const batch of source.batches()) {
    for (const event of batch) {
      if ('run' in event) runId = event.run.runId;
      if (event.type === 'response.output_item.added' && event.item.type === 'server_tool_call') {
        calls.set(event.outputIndex, event.item);
      }
      if (isLeftOut(event)) continue;
      const call = isOfCall(event) ? findCall(event, batch, calls) : undefined;
      yield call === undefined ? { ...event, runId } : { ...event, runId, call };
    }
  }
}

/** Numbers of events that are left out are gaps: a reader that comes back behind any number misses nothing. */
function isLeftOut(event: RunEvent): boolean {
  switch (event.type) {
    case 'response.in_progress':
      // At the beginning it follows `response.created` and says the same. Behind a pause the run goes on.
      return event.sequence <= 1;
    case 'response.content_part.done':
      return true;
    case 'parley.flow.step':
      return event.isHidden === true;
    case 'parley.cited':
    case 'parley.subagent.kept':
    case 'parley.research':
      return true;
    default:
      return false;
  }
}

type CallEvent = Extract<RunEvent, { readonly type: `response.server_tool_call.${string}` }>;

function isOfCall(event: RunEvent): event is CallEvent {
  return event.type.startsWith('response.server_tool_call.');
}

/** The call at the end of an event: whole with its result when it is over, which the item that follows in the same batch tells. */
function findCall(
  { type, outputIndex }: CallEvent,
  batch: readonly RunEvent[],
  calls: Map<number, ServerCallItem>,
): ServerCallItem | undefined {
  const begunCall = calls.get(outputIndex);
  if (type === 'response.server_tool_call.in_progress') return begunCall;
  calls.delete(outputIndex);
  const end = batch.find((event) => event.type === 'response.output_item.done' && event.outputIndex === outputIndex);
  if (end?.type === 'response.output_item.done' && end.item.type === 'server_tool_call') return end.item;
  const status = type === 'response.server_tool_call.completed' ? 'completed' : 'failed';
  return begunCall === undefined ? undefined : { ...begunCall, status };
}
