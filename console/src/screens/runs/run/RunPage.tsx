import { MessageSquare } from 'lucide-react';
import { useLive, usePage } from '../../../graphql/hooks.ts';
import { useSession } from '../../../parts/session/session.tsx';
import { useText } from '../../../text/text.ts';
import { Badge, EmptyState, ErrorNote, Note, Skeleton } from '../../../ui/feedback.tsx';
import { ButtonLink } from '../../../ui/form/button.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { Page, Section } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { RunDocument, RunsChangedDocument } from '../documents.ts';
import { useElapsedMs } from '../elapsed.ts';
import { Passages } from '../Passages.tsx';
import { getTitle } from '../RunTable.tsx';
import styles from '../runs.module.css';
import { StopButton, useMayStop } from '../StopButton.tsx';
import { describeState, kindWords } from '../words.ts';
import { AddToDataset } from './AddToDataset.tsx';
import { useRunEvents } from './events.ts';
import { RunFacts } from './RunFacts.tsx';
import type { RunDetail } from './steps.ts';
import { Tags } from './Tags.tsx';
import { Waterfall } from './Waterfall.tsx';

/** One run: what it did, step by step, and what that took and cost. Follows it while it goes on. */
export function RunPage({ id }: { readonly id: string }) {
  const { t } = useText();
  const { data, error, isLoading, reload } = usePage(RunDocument, { id });
  useLive(RunsChangedDocument, {}, ({ runsChanged }) => runsChanged.id === id && reload(), { onBegin: reload });
  if (data?.run === null) {
    return (
      <EmptyState isScreen title={t('There is no such run')} action={<ButtonLink href="/runs">{t('To the runs')}</ButtonLink>}>
        {t('The run is deleted, or you may not see it.')}
      </EmptyState>
    );
  }
  if (data === undefined) {
    return (
      <Page title={t('Run')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton lines={8} /> : null}
      </Page>
    );
  }
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      <Content run={data.run} currency={data.viewer.costCurrency} onChange={reload} />
    </>
  );
}

function Content({
  run,
  currency,
  onChange,
}: {
  readonly run: RunDetail;
  readonly currency: string;
  readonly onChange: () => void;
}) {
  const { t } = useText();
  const isRunning = run.status === 'IN_PROGRESS';
  const elapsedMs = useElapsedMs(run.startedAt ?? run.createdAt, isRunning);
  const happening = useRunEvents(run.id, isRunning && run.isStored, onChange);
  const near = run.retrieval?.passageCount === 0 ? run.retrieval.nearPassages : [];
  return (
    <Page title={getTitle(run, t)} lead={<Lead run={run} />} actions={<Acts run={run} onChange={onChange} />}>
      <Problems run={run} />
      <Tags key={run.tags.join('\n')} id={run.id} tags={run.tags} />
      <RunFacts run={run} currency={currency} elapsedMs={isRunning ? elapsedMs : undefined} tokensSoFar={happening.tokens} />
      <Section title={t('What it did')}>
        <Waterfall
          run={run}
          currency={currency}
          totalMs={isRunning ? elapsedMs : (run.durationMs ?? 0)}
          progress={happening.progress}
        />
      </Section>
      {near.length === 0 ? null : (
        <Section title={t('Knowledge had no answer')} lead={t('Nothing was close enough to be given to the model.')}>
          <Passages title={t('Near matches')} passages={near} />
        </Section>
      )}
      <Words run={run} text={isRunning ? happening.text || run.text : run.text} />
    </Page>
  );
}

interface RunProps {
  readonly run: RunDetail;
}

function Lead({ run }: RunProps) {
  const { t } = useText();
  const state = describeState(run, t);
  return (
    <span className={styles.lead}>
      <Badge tone={state.tone}>{state.word}</Badge>
      <span>{[kindWords(t)[run.kind], run.user?.name].filter((part) => part !== undefined).join(' · ')}</span>
      <Time at={run.createdAt} />
    </span>
  );
}

function Acts({ run, onChange }: RunProps & { readonly onChange: () => void }) {
  const { t } = useText();
  const { may } = useSession();
  const mayStop = useMayStop();
  return (
    <>
      {run.chat !== null && may('CHATS_READ') ? (
        <ButtonLink href={`/chats/${run.chat.id}`} icon={<MessageSquare size={16} aria-hidden />}>
          {t('Open the chat')}
        </ButtonLink>
      ) : null}
      {run.chat !== null && run.status !== 'IN_PROGRESS' ? <AddToDataset runId={run.id} agent={run.agent} size="normal" /> : null}
      {mayStop(run) ? <StopButton run={run} onStopped={onChange} size="normal" /> : null}
    </>
  );
}

/** Why it failed, and what it did without. */
function Problems({ run: { error, warnings } }: RunProps) {
  const { describeFault } = useFaultWords();
  return (
    <>
      {error === null ? null : (
        <Note tone="bad">
          <p>{describeFault(error)}</p>
        </Note>
      )}
      {warnings.map(({ message }) => (
        <Note key={message} tone="warn">
          {message}
        </Note>
      ))}
    </>
  );
}

/** What it said, and what the model was told first, as far as the reader may see it. */
function Words({ run, text }: RunProps & { readonly text: string | null }) {
  const { t } = useText();
  const { viewer } = useSession();
  return (
    <>
      {run.isStored && run.chat === null && run.userId !== viewer.user.id ? (
        <p className={styles.quiet}>{t('Only who may read the chat is shown what was said.')}</p>
      ) : null}
      {text === null ? null : (
        <Section title={t('What it said')}>
          <p className={styles.text}>{text}</p>
        </Section>
      )}
      {run.trace?.instructions == null ? null : (
        <details className={styles.instructions}>
          <summary>{t('What the model was told first')}</summary>
          <p className={styles.text}>{run.trace.instructions}</p>
        </details>
      )}
    </>
  );
}
