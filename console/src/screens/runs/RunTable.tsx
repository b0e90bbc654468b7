import { ThumbsDown, ThumbsUp } from 'lucide-react';
import { Link } from 'wouter';
import { useText } from '../../text/text.ts';
import { formatCost } from '../../ui/cost.ts';
import { Badge } from '../../ui/feedback.tsx';
import { useFaultWords } from '../../ui/form/faults/words.ts';
import { Table } from '../../ui/page.tsx';
import { formatMs, Time } from '../../ui/small.tsx';
import type { RunRowFragment } from './documents.ts';
import { useElapsedMs } from './elapsed.ts';
import styles from './runs.module.css';
import { StopButton, useMayStop } from './StopButton.tsx';
import { describeState, kindWords } from './words.ts';

export type TableRun = RunRowFragment;

/** How many runs stand beside each other. */
export const besideCount = 2;

/** Runs as rows. Each leads to its page; those that go on can be stopped. */
export function RunTable({
  label,
  runs,
  currency,
  chosen,
  onChoose,
  onStopped,
}: {
  readonly label: string;
  readonly runs: readonly TableRun[];
  readonly currency: string;
  /** The runs that are put beside each other. */
  readonly chosen: readonly string[];
  readonly onChoose: (id: string, isChosen: boolean) => void;
  readonly onStopped: () => void;
}) {
  const { t } = useText();
  const mayStop = useMayStop();
  const hasStop = runs.some(mayStop);
  return (
    <Table label={label}>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">{t('Side by side')}</span>
          </th>
          <th scope="col">{t('Run')}</th>
          <th scope="col">{t('State')}</th>
          <th scope="col">{t('Person')}</th>
          <th scope="col">{t('Started')}</th>
          <th scope="col" className={styles.number}>
            {t('Took')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Tokens')}
          </th>
          <th scope="col" className={styles.number}>
            {t('Cost')}
          </th>
          {hasStop ? (
            <th scope="col">
              <span className="visually-hidden">{t('Stop')}</span>
            </th>
          ) : null}
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row
            key={run.id}
            run={run}
            currency={currency}
            isChosen={chosen.includes(run.id)}
            mayChoose={chosen.length < besideCount}
            onChoose={(isChosen) => onChoose(run.id, isChosen)}
            hasStop={hasStop}
            onStopped={onStopped}
          />
        ))}
      </tbody>
    </Table>
  );
}

function Row({
  run,
  currency,
  isChosen,
  mayChoose,
  onChoose,
  hasStop,
  onStopped,
}: {
  readonly run: TableRun;
  readonly currency: string;
  readonly isChosen: boolean;
  readonly mayChoose: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  readonly hasStop: boolean;
  readonly onStopped: () => void;
}) {
  const { t, number } = useText();
  const mayStop = useMayStop();
  const { describeFault } = useFaultWords();
  const state = describeState(run, t);
  const isRunning = run.status === 'IN_PROGRESS';
  const elapsedMs = useElapsedMs(run.startedAt ?? run.createdAt, isRunning);
  const ms = isRunning ? elapsedMs : (run.durationMs ?? undefined);
  return (
    <tr>
      <td>
        <input
          type="checkbox"
          aria-label={t('Compare {name} with another run', { name: getTitle(run, t) })}
          checked={isChosen}
          disabled={!isChosen && !mayChoose}
          onChange={({ target }) => onChoose(target.checked)}
        />
      </td>
      <th scope="row" className={styles.what}>
        <Link href={`/runs/${run.id}`}>{getTitle(run, t)}</Link>
        <small>{getSubtitle(run, t)}</small>
        {run.tags.length === 0 ? null : (
          <span className={styles.badges}>
            {run.tags.map((tag) => (
              <Badge key={tag}>{tag}</Badge>
            ))}
          </span>
        )}
      </th>
      <td>
        <span className={styles.state}>
          <Badge tone={state.tone}>{state.word}</Badge>
          {run.ratedUpCount > 0 ? <ThumbsUp size={15} role="img" aria-label={t('Rated good')} /> : null}
          {run.ratedDownCount > 0 ? <ThumbsDown size={15} role="img" aria-label={t('Rated bad')} /> : null}
        </span>
        {run.error === null ? null : <small className={styles.error}>{describeFault(run.error)}</small>}
      </td>
      <td>
        <span className={styles.person}>{run.user?.name ?? '–'}</span>
        {run.key === null ? null : <small className={styles.quiet}>{t('Key {name}', { name: run.key.name })}</small>}
      </td>
      <td className={styles.nowrap}>
        <Time at={run.createdAt} />
      </td>
      <td className={styles.number}>{ms === undefined ? '–' : formatMs(ms, number)}</td>
      <td className={styles.number}>{run.usage === null ? '–' : number(run.usage.totalTokens)}</td>
      <td className={styles.number}>{run.cost === null ? '–' : formatCost(run.cost, currency, number)}</td>
      {hasStop ? <td>{mayStop(run) ? <StopButton run={run} onStopped={onStopped} /> : null}</td> : null}
    </tr>
  );
}

/** Who answers, else what it is. */
export function getTitle({ agent, modelId, kind }: TableRun, t: Parameters<typeof kindWords>[0]): string {
  return agent?.name ?? modelId ?? kindWords(t)[kind];
}

function getSubtitle({ agent, modelId, kind, chat }: TableRun, t: Parameters<typeof kindWords>[0]): string {
  const model = agent === null ? undefined : (modelId ?? undefined);
  return [kindWords(t)[kind], chat?.name ?? undefined, model].filter((part) => part !== undefined && part !== '').join(' · ');
}
