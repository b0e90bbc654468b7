import { useEffect, useRef, useState } from 'react';
import { live } from '../../../graphql/live/live.ts';
import { RunHappensDocument } from '../documents.ts';

/** What a run told since the page follows it. */
export interface Happening {
  readonly text: string;
  /** Null while none were reported. */
  readonly tokens: number | null;
  /** What each subagent says that it is doing, by its id. */
  readonly progress: ReadonlyMap<string, string>;
}

const nothing: Happening = { text: '', tokens: null, progress: new Map() };
/** Events that are deltas: many a second, and they change no step. */
const deltas = new Set(['TextDelta', 'ReasoningDelta', 'ArgumentsDelta', 'UsageReported', 'SubagentProgressed']);
const reloadAfterMs = 400;

/** Follows a run event by event. `onStep` is called, at most some times a second, when a step may have begun or ended. */
export function useRunEvents(runId: string, isOn: boolean, onStep: () => void): Happening {
  const [happening, setHappening] = useState(nothing);
  const handler = useRef(onStep);
  handler.current = onStep;
  useEffect(() => {
    if (!isOn) return;
    let after: number | null = null;
    let next = nothing;
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = () => {
      frame = 0;
      setHappening(next);
    };
    const reloadSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        handler.current();
      }, reloadAfterMs);
    };
    const stop = live.subscribe(RunHappensDocument, () => ({ runId, after }), {
      next: ({ runEvents: event }) => {
        after = event.sequence;
        if (event.__typename === 'TextDelta') next = { ...next, text: next.text + event.delta };
        if (event.__typename === 'UsageReported') next = { ...next, tokens: event.usage.totalTokens };
        if (event.__typename === 'SubagentProgressed') {
          next = { ...next, progress: new Map(next.progress).set(event.subagentId, event.message) };
        }
        if (deltas.has(event.__typename)) frame ||= requestAnimationFrame(show);
        else reloadSoon();
      },
      // The run may be seen, and what is said in it not: the list of runs tells its end.
      error: () => undefined,
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      setHappening(nothing);
    };
  }, [runId, isOn]);
  return happening;
}
