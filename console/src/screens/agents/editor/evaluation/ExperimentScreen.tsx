import { Download } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useLive, useMorePages, useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { Badge, EmptyState, ErrorNote, Note, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../../ui/form/button.tsx';
import { SelectField } from '../../../../ui/form/fields.tsx';
import { useAttempt } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { saveFile } from '../../../../ui/save-file.ts';
import type { EditorAgent } from '../section.ts';
import styles from '../versions/versions.module.css';
import {
  CancelExperimentDocument,
  ExperimentFileDocument,
  ExperimentPageDocument,
  type ExperimentPageQuery,
  type ExperimentPairVerdict,
  ExperimentProgressDocument,
  type ExperimentReportFormat,
  type ExperimentRowFragment,
  MorePairsDocument,
} from './documents.ts';
import { Pairs } from './Pairs.tsx';
import { ResumeDialog } from './ResumeDialog.tsx';
import { Scoring } from './Scoring.tsx';
import { Summary } from './Summary.tsx';
import { describeStatus, evaluationAddress, isUnderWay, variantTitle } from './words.ts';

interface Props {
  readonly agent: EditorAgent;
  readonly id: string;
  readonly isReadOnly: boolean;
}

/** An experiment: how far it is, what it says, and both answers of each case. */
export function ExperimentScreen({ agent, id, isReadOnly }: Props) {
  const { t, number } = useText();
  const [choice, setChoice] = useState<PairChoice>({ variant: 1, verdict: null });
  const { data, experiment, error, isLoading, reload, take } = useExperiment(id, choice);
  const overview = evaluationAddress(agent.id);
  if (experiment === null) {
    return (
      <EmptyState
        title={t('There is no such experiment')}
        action={<ButtonLink href={overview}>{t('All experiments')}</ButtonLink>}
      />
    );
  }
  if (experiment === undefined || data === undefined) {
    return (
      <Section title={t('Experiment')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton lines={6} /> : null}
      </Section>
    );
  }
  const currency = data.viewer.costCurrency;
  const { word, tone } = describeStatus(t, experiment.status);
  return (
    <div className={styles.screen}>
      <Section
        title={experiment.variants.map((one) => variantTitle(t, one)).join(' · ')}
        lead={
          <span className={styles.badges}>
            <Badge tone={tone}>{word}</Badge>
            {t('{tokens} of {max} tokens', { tokens: number(experiment.tokens), max: number(experiment.tokensMax) })}
            {experiment.cost > 0 ? ` · ${formatCost(experiment.cost, currency, number)}` : ''}
          </span>
        }
        actions={
          <>
            <ButtonLink href={overview}>{t('All experiments')}</ButtonLink>
            <Downloads id={id} />
          </>
        }
      >
        <ErrorNote error={error} onRetry={reload} />
        {experiment.error === null ? null : <Note tone="warn">{experiment.error}</Note>}
        <Acts experiment={experiment} currency={currency} isReadOnly={isReadOnly} onChange={take} />
        <Scoring experiment={experiment} />
        <Summary experiment={experiment} currency={currency} />
      </Section>
      <CaseByCase experiment={experiment} first={data.experimentPairs} choice={choice} onChoose={setChoice} />
    </div>
  );
}

/** Which answers stand beside each other: those of the first variant and of another, and of which cases. */
interface PairChoice {
  readonly variant: number;
  /** Null: of all cases. */
  readonly verdict: ExperimentPairVerdict | null;
}

/** The page of an experiment, which follows it while it is under way. Its experiment is null where there is none. */
function useExperiment(id: string, choice: PairChoice) {
  const { data, error, isLoading, reload } = usePage(ExperimentPageDocument, { id, ...choice });
  const [latest, take] = useState<ExperimentRowFragment>();
  const loaded = data?.experiment;
  const current = latest ?? loaded;
  const [isFollowed, setFollowed] = useState(false);
  if (!isFollowed && current != null && isGoingOn(current)) setFollowed(true);
  useLive(ExperimentProgressDocument, { id }, ({ experimentUpdated }) => take(experimentUpdated), {
    // To the end of the stream, whatever is told before.
    pause: !isFollowed,
    onComplete: () => {
      setFollowed(false);
      reload();
    },
  });
  // What is told while it goes on has no summary; that of the page stays.
  const isLoadedFuller = latest?.summary === null && loaded?.summary != null;
  const experiment = loaded === null || latest === undefined || isLoadedFuller ? loaded : latest;
  return { data, experiment, error, isLoading, reload, take };
}

/** The summary comes behind the end of the last answer. */
const isGoingOn = ({ status, summary }: ExperimentRowFragment) => isUnderWay(status) || summary === null;

function Downloads({ id }: { readonly id: string }) {
  const { t } = useText();
  const attempt = useAttempt();
  const download = (format: ExperimentReportFormat) =>
    attempt(async () => {
      const { experimentReport: file } = await run(ExperimentFileDocument, { id, format });
      saveFile(new Blob([file.content], { type: file.contentType }), file.filename);
    });
  return (
    <>
      <Button icon={<Download size={16} aria-hidden />} onClick={() => void download('CSV')}>
        {t('CSV')}
      </Button>
      <Button icon={<Download size={16} aria-hidden />} onClick={() => void download('JUNIT')}>
        {t('JUnit')}
      </Button>
    </>
  );
}

/** Both answers of each case, and which of them are shown. */
function CaseByCase({
  experiment: { id, variants },
  first,
  choice,
  onChoose,
}: {
  readonly experiment: ExperimentRowFragment;
  readonly first: ExperimentPageQuery['experimentPairs'];
  readonly choice: PairChoice;
  readonly onChoose: (choice: PairChoice) => void;
}) {
  const { t } = useText();
  const pages = useMorePages(withIds(first), async (after) =>
    withIds((await run(MorePairsDocument, { id, ...choice, after })).experimentPairs),
  );
  const titles = variants.map((one) => variantTitle(t, one));
  return (
    <Section title={t('Case by case')}>
      {variants.length < 3 ? null : (
        <SelectField
          label={t('Compared with {version}', { version: titles[0] ?? '' })}
          value={choice.variant}
          onChange={(variant) => onChoose({ ...choice, variant })}
          options={titles.slice(1).map((title, index) => ({ value: index + 1, label: title }))}
        />
      )}
      {variants.length < 2 ? null : (
        <SelectField
          label={t('Which cases')}
          value={choice.verdict ?? ''}
          onChange={(verdict) => onChoose({ ...choice, verdict: verdict === '' ? null : verdict })}
          options={[
            { value: '', label: t('All') },
            { value: 'WORSE', label: t('Worse') },
            { value: 'BETTER', label: t('Better') },
            { value: 'SAME', label: t('The same') },
          ]}
        />
      )}
      <Pairs variants={variants} compared={choice.variant} pairs={pages.nodes} />
      <ShowMore pages={pages} />
    </Section>
  );
}

/** Pairs are known by their cases. */
function withIds({ nodes, pageInfo }: ExperimentPageQuery['experimentPairs']) {
  return { pageInfo, nodes: nodes.map((pair) => ({ ...pair, id: pair.caseId })) };
}

/** How far it is, and how it is ended or goes on. */
function Acts({
  experiment,
  currency,
  isReadOnly,
  onChange,
}: {
  readonly experiment: ExperimentRowFragment;
  readonly currency: string;
  readonly isReadOnly: boolean;
  readonly onChange: (experiment: ExperimentRowFragment) => void;
}) {
  const { t } = useText();
  const cancel = useMutate(CancelExperimentDocument);
  const [isResuming, setResuming] = useState(false);
  const { id, status, doneCount, failedCount, plannedCount } = experiment;
  const answerCount = doneCount + failedCount;
  const isOpen = isUnderWay(status);
  // Of one that stopped, judges may not have been asked about answers that are all there.
  const isResumable = !isOpen && (answerCount < plannedCount || status === 'STOPPED');
  const progress = t('{count} of {planned} answers are there', { count: answerCount, planned: plannedCount });
  return (
    <>
      {isOpen ? <Progress percent={(answerCount / Math.max(1, plannedCount)) * 100} label={progress} /> : null}
      {isOpen || isResumable ? <p role="status">{progress}</p> : null}
      {isReadOnly || !(isOpen || isResumable) ? null : (
        <div className={styles.acts}>
          {isOpen ? (
            <Button
              isBusy={cancel.isBusy}
              onClick={() => void cancel.run({ id }).then((reply) => reply && onChange(reply.cancelExperiment))}
            >
              {t('Cancel the experiment')}
            </Button>
          ) : (
            <Button onClick={() => setResuming(true)}>{t('Go on')}</Button>
          )}
        </div>
      )}
      <ErrorNote error={cancel.error} />
      {isResuming ? (
        <ResumeDialog
          experiment={experiment}
          currency={currency}
          onClose={() => setResuming(false)}
          onResumed={(resumed) => {
            setResuming(false);
            onChange(resumed);
          }}
        />
      ) : null}
    </>
  );
}
