import type { ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import { usePage } from '../../../graphql/hooks.ts';
import { type Text, useText } from '../../../text/text.ts';
import { formatCost } from '../../../ui/cost.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
import { Page, Section, Table } from '../../../ui/page.tsx';
import { formatMs } from '../../../ui/small.tsx';
import { RunDocument } from '../documents.ts';
import { getTitle } from '../RunTable.tsx';
import type { RunDetail } from '../run/steps.ts';
import { Waterfall } from '../run/Waterfall.tsx';
import { describeState } from '../words.ts';
import styles from './beside.module.css';
import { countTools, describeDifference, readQuestion } from './differences.ts';

const nothing = new Map<string, string>();

/** Two runs beside each other: what they were asked, did, took and cost, and where they differ. `?one=` and `?other=` name them. */
export function RunsBeside() {
  const { t } = useText();
  const params = new URLSearchParams(useSearch());
  const [oneId, otherId] = [params.get('one') ?? '', params.get('other') ?? ''];
  const one = usePage(RunDocument, { id: oneId });
  const other = usePage(RunDocument, { id: otherId });
  const runs = [one.data?.run, other.data?.run];
  if (runs.includes(null) || oneId === '' || otherId === '') {
    return (
      <EmptyState isScreen title={t('There is no such run')} action={<ButtonLink href="/runs">{t('To the runs')}</ButtonLink>}>
        {t('The run is deleted, or you may not see it.')}
      </EmptyState>
    );
  }
  const [first, second] = runs;
  return (
    <Page
      title={t('Two runs side by side')}
      lead={t('What differs is marked.')}
      actions={<ButtonLink href="/runs">{t('To the runs')}</ButtonLink>}
      width="full"
    >
      <ErrorNote error={one.error ?? other.error} onRetry={() => (one.error === undefined ? other.reload() : one.reload())} />
      {first === undefined || second === undefined || first === null || second === null ? (
        <Skeleton lines={8} />
      ) : (
        <Sides one={first} other={second} currency={one.data?.viewer.costCurrency ?? 'USD'} />
      )}
    </Page>
  );
}

function Sides({ one, other, currency }: { readonly one: RunDetail; readonly other: RunDetail; readonly currency: string }) {
  const text = useText();
  const { t } = text;
  // One scale for both, so that equal lengths are equal times.
  const totalMs = Math.max(one.durationMs ?? 0, other.durationMs ?? 0, lastMs(one), lastMs(other));
  const sides = [one, other];
  return (
    <>
      <Table label={t('Totals')}>
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">{t('What')}</span>
            </th>
            {sides.map((run) => (
              <th key={run.id} scope="col">
                <Link href={`/runs/${run.id}`}>{getTitle(run, t)}</Link>
              </th>
            ))}
            <th scope="col">{t('Difference')}</th>
          </tr>
        </thead>
        <tbody>
          {listFacts(one, other, currency, text).map(({ name, values, difference }) => (
            <tr key={name} data-differs={values[0] !== values[1] || undefined} className={styles.fact}>
              <th scope="row">{name}</th>
              <td>{values[0]}</td>
              <td>{values[1]}</td>
              <td className={styles.difference}>{difference}</td>
            </tr>
          ))}
        </tbody>
      </Table>
      <Pair title={t('What was asked')} runs={sides} draw={(run) => <Words text={readQuestion(run)} />} />
      <Pair
        title={t('What it did')}
        runs={sides}
        draw={(run) => <Waterfall run={run} currency={currency} totalMs={totalMs} progress={nothing} />}
      />
      <Pair title={t('Tools that it called')} runs={sides} draw={(run) => <Tools counts={countTools(run)} />} />
      <Pair title={t('What it said')} runs={sides} draw={(run) => <Words text={run.text ?? undefined} />} />
      <Pair
        title={t('What the model was told first')}
        runs={sides}
        draw={(run) => <Words text={run.trace?.instructions ?? undefined} />}
      />
    </>
  );
}

function Pair({
  title,
  runs,
  draw,
}: {
  readonly title: string;
  readonly runs: readonly RunDetail[];
  readonly draw: (run: RunDetail) => ReactNode;
}) {
  const { t } = useText();
  return (
    <Section title={title}>
      <div className={styles.pair}>
        {runs.map((run, index) => (
          <section key={run.id} aria-label={`${title}: ${index === 0 ? t('first run') : t('second run')}`}>
            {draw(run)}
          </section>
        ))}
      </div>
    </Section>
  );
}

function Words({ text }: { readonly text: string | undefined }) {
  const { t } = useText();
  if (text === undefined || text === '') return <p className={styles.quiet}>{t('Nothing that you may read is kept.')}</p>;
  return <p className={styles.words}>{text}</p>;
}

function Tools({ counts }: { readonly counts: ReadonlyMap<string, number> }) {
  const { t, number } = useText();
  if (counts.size === 0) return <p className={styles.quiet}>{t('None.')}</p>;
  return (
    <ul className={styles.tools}>
      {[...counts].map(([name, count]) => (
        <li key={name}>
          <Badge>{count === 1 ? name : `${name} × ${number(count)}`}</Badge>
        </li>
      ))}
    </ul>
  );
}

interface ComparedFact {
  readonly name: string;
  readonly values: readonly [string, string];
  readonly difference: string;
}

function listFacts(one: RunDetail, other: RunDetail, currency: string, { t, number, date }: Text): readonly ComparedFact[] {
  const words = (name: string, read: (run: RunDetail) => string | null | undefined): ComparedFact => ({
    name,
    values: [read(one) ?? '–', read(other) ?? '–'],
    difference: '',
  });
  const figures = (
    name: string,
    read: (run: RunDetail) => number | null | undefined,
    format: (value: number) => string,
  ): ComparedFact => {
    const values = [read(one) ?? undefined, read(other) ?? undefined] as const;
    const show = (value: number | undefined) => (value === undefined ? '–' : format(value));
    return { name, values: [show(values[0]), show(values[1])], difference: describeDifference(values, format, number) };
  };
  const ms = (value: number) => formatMs(value, number);
  return [
    words(t('State'), (run) => describeState(run, t).word),
    words(t('Started'), (run) => date(run.createdAt, { dateStyle: 'medium', timeStyle: 'medium' })),
    words(t('Agent'), (run) => run.agent?.name),
    words(t('Model'), (run) => run.modelId),
    words(t('Answered by'), (run) => run.answeredModelId),
    figures(t('Took'), (run) => run.durationMs, ms),
    figures(t('First token after'), (run) => run.firstTokenMs, ms),
    figures(t('Tokens in'), (run) => run.usage?.inputTokens, number),
    figures(t('Tokens out'), (run) => run.usage?.outputTokens, number),
    figures(
      t('Cost'),
      (run) => run.cost,
      (value) => formatCost(value, currency, number),
    ),
    figures(t('Steps'), (run) => run.steps.length, number),
    figures(t('Passages'), (run) => run.retrieval?.passageCount, number),
    words(t('Tags'), (run) => (run.tags.length === 0 ? undefined : run.tags.join(', '))),
  ];
}

function lastMs({ steps }: RunDetail): number {
  return Math.max(0, ...steps.map(({ offsetMs, durationMs }) => (offsetMs ?? 0) + (durationMs ?? 0)));
}
