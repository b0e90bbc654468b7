import { documents } from '@parley/client';
import { useState } from 'react';
import { typed } from './client.ts';
import { cost, count, duration, words } from './format.ts';
import { Panel, Status } from './parts.tsx';
import { useLive } from './use-live.ts';

const query = typed(documents.RunListQueryDocument);
const changes = typed(documents.RunListSubscriptionDocument);
const statuses = ['IN_PROGRESS', 'COMPLETED', 'FAILED', 'CANCELLED', 'INCOMPLETE'] as const;
type Run = documents.RunListQuery['runs']['nodes'][number];

/** The newest runs of every API, and the questions that found no answer. */
export function Runs({ onOpen }: { onOpen: (runId: string) => void }) {
  const [status, choose] = useState<documents.RunStatus | ''>('');
  const { data, error } = useLive(query, { first: 20, filter: status === '' ? {} : { status } }, changes);
  return (
    <>
      <Panel
        id="runs"
        title="Runs"
        error={error}
        aside={
          <label>
            Status{' '}
            <select value={status} onChange={(event) => choose(event.target.value as typeof status)}>
              <option value="">all</option>
              {statuses.map((value) => (
                <option key={value} value={value}>
                  {words(value)}
                </option>
              ))}
            </select>
          </label>
        }
      >
        {data?.runs.nodes.length === 0 && <p className="empty">No run yet. Ask an agent something.</p>}
        {data && data.runs.nodes.length > 0 && <RunTable runs={data.runs.nodes} onOpen={onOpen} />}
      </Panel>
      <Panel id="unanswered" title="Questions without an answer">
        {data?.unansweredQuestions.nodes.length === 0 && (
          <p className="empty">None: every question found passages, and no answer is rated bad.</p>
        )}
        <ul className="plain">
          {data?.unansweredQuestions.nodes.map(({ run, question, reason, passages }) => (
            <li key={run.id}>
              <button type="button" onClick={() => onOpen(run.id)}>
                {question ?? 'A question that you may not read'}
              </button>{' '}
              <small>
                {words(reason)}
                {passages[0] && `, nearest: ${passages[0].title}`}
              </small>
            </li>
          ))}
        </ul>
      </Panel>
    </>
  );
}

function RunTable({ runs, onOpen }: { runs: readonly Run[]; onOpen: (runId: string) => void }) {
  return (
    <div className="wide">
      <table>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Who</th>
            <th scope="col">Status</th>
            <th scope="col">First token</th>
            <th scope="col">Time</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <button type="button" onClick={() => onOpen(run.id)}>
                  {run.agent?.name ?? run.modelId ?? words(run.kind)}
                </button>
                <small>
                  {words(run.kind)}, {new Date(run.createdAt).toLocaleTimeString()}
                </small>
              </th>
              <td>{run.user?.name ?? run.key?.name ?? '–'}</td>
              <td>
                <Status value={run.status} />
                {run.error && <small title={run.error.message}>{words(run.error.code)}</small>}
              </td>
              <td>{duration(run.firstTokenMs)}</td>
              <td>{duration(run.durationMs)}</td>
              <td>{run.usage ? count(run.usage.inputTokens + run.usage.outputTokens) : '–'}</td>
              <td>{cost(run.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
