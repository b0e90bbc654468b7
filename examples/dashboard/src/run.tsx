import { documents } from '@parley/client';
import { useEffect, useRef } from 'react';
import { useQuery } from 'urql';
import { typed } from './client.ts';
import { cost, count, duration, words } from './format.ts';
import { Status } from './parts.tsx';

const query = typed(documents.RunQueryDocument);
type Run = NonNullable<documents.RunQuery['run']>;
type Step = Run['steps'][number];

/** One run as a waterfall: what was searched, which models and tools were asked, and what each took. */
export function RunDetails({ runId, onClose }: { runId: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [{ data, error }] = useQuery({ query, variables: { id: runId }, requestPolicy: 'network-only' });
  useEffect(() => dialog.current?.showModal(), []);
  const run = data?.run;
  return (
    <dialog ref={dialog} id="run" aria-label="Run" onClose={onClose}>
      <form method="dialog">
        <button type="submit" aria-label="Close">
          ×
        </button>
      </form>
      {error && <p role="alert">{error.message}</p>}
      {run === null && <p role="alert">This run is gone, or you may not see it.</p>}
      {run && <Waterfall run={run} />}
    </dialog>
  );
}

function Waterfall({ run }: { run: Run }) {
  const whole = Math.max(1, run.durationMs ?? 0, ...run.steps.map((step) => (step.offsetMs ?? 0) + (step.durationMs ?? 0)));
  return (
    <>
      <h2>
        {run.agent?.name ?? run.modelId ?? words(run.kind)} <Status value={run.status} />
      </h2>
      <p>
        {words(run.kind)} of {run.user?.name ?? 'a key'}, {new Date(run.createdAt).toLocaleString()}: {duration(run.durationMs)},
        first token after {duration(run.firstTokenMs)}
        {run.usage && `, ${count(run.usage.inputTokens)} tokens in and ${count(run.usage.outputTokens)} out`}, cost{' '}
        {cost(run.cost)}
      </p>
      {run.error && <p role="alert">{run.error.message}</p>}
      {run.steps.length === 0 && <p className="empty">Its steps are no longer kept, or its agent does not show them.</p>}
      <ol className="waterfall">
        {run.steps.map((step, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no ids, and the steps before a new one stay as they are
          <li key={index}>
            <span title={step.errorCode ?? undefined}>
              {nameOf(step)} {step.errorCode && <small>{words(step.errorCode)}</small>}
            </span>
            <span className="track">
              <i
                className={step.__typename}
                style={{
                  left: `${(100 * (step.offsetMs ?? 0)) / whole}%`,
                  width: `max(3px, ${(100 * (step.durationMs ?? 0)) / whole}%)`,
                }}
              />
            </span>
            <span>{duration(step.durationMs)}</span>
            {step.__typename === 'RetrievalStep' && step.passages.length > 0 && (
              <small>
                {step.passages
                  .slice(0, 3)
                  .map(({ title, score }) => `${title} ${score.toFixed(2)}`)
                  .join(' · ')}
              </small>
            )}
          </li>
        ))}
      </ol>
      {run.citations.length > 0 && <p>Cited: {run.citations.map(({ index, name }) => `[${index}] ${name}`).join(', ')}</p>}
    </>
  );
}

function nameOf(step: Step): string {
  switch (step.__typename) {
    case 'ModelCallStep':
      return step.modelId;
    case 'RetrievalStep':
      return `Search: ${step.question ?? 'knowledge'}`;
    case 'ToolCallStep':
    case 'SubagentStep':
      return step.name;
    default:
      return 'Flow';
  }
}
