import { Download } from 'lucide-react';
import { useState } from 'react';
import { run } from '../../../../graphql/client.ts';
import { useLive, useMorePages, useMutate, usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { Badge, EmptyState, ErrorNote, Note, Skeleton } from '../../../../ui/feedback.tsx';
import { Button, ButtonLink } from '../../../../ui/form/button.tsx';
import { SelectField } from '../../../../ui/form/fields.tsx';
import { ShowMore } from '../../../../ui/more.tsx';
import { useErrorToast } from '../../../../ui/overlay/toasts.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { saveFile } from '../../../../ui/save-file.ts';
import type { EditorAgent } from '../section.ts';
import styles from '../versions/versions.module.css';
import {
  CancelExperimentDocument,
  ExperimentFileDocument,
  ExperimentPageDocument,
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

const verdicts: readonly ExperimentPairVerdict[] = ['WORSE', 'BETTER', 'SAME'];

/** An experiment: how far it is, what it says, and both answers of each case. */
export function ExperimentScreen({ agent, id, isReadOnly }: Props) {
  const { t, number } = useText();
  const sayError = useErrorToast();
  const [verdict, setVerdict] = useState<ExperimentPairVerdict | ''>('');
  const [variant, setVariant] = useState(1);
  const variables = { id, variant, verdict: verdict === '' ? null : verdict };
  const { data, error, isLoading, reload } = usePage(ExperimentPageDocument, variables);
  const [latest, setLatest] = useState<ExperimentRowFragment>();
  useLive(ExperimentProgressDocument, { id }, ({ experimentUpdated }) => setLatest(experimentUpdated), {
    pause: data?.experiment == null || !isUnderWay((latest ?? data.experiment).status),
    onComplete: reload,
  });
  const withId = (pair: NonNullable<typeof data>['experimentPairs']['nodes'][number]) => ({ ...pair, id: pair.caseId });
  const first = data?.experimentPairs;
  const pages = useMorePages(first === undefined ? undefined : { ...first, nodes: first.nodes.map(withId) }, async (after) => {
    const { experimentPairs } = await run(MorePairsDocument, { ...variables, after });
    return { ...experimentPairs, nodes: experimentPairs.nodes.map(withId) };
  });
  const overview = evaluationAddress(agent.id);
  if (data?.experiment === null) {
    return (
      <EmptyState
        title={t('There is no such experiment')}
        action={<ButtonLink href={overview}>{t('All experiments')}</ButtonLink>}
      />
    );
  }
  const experiment =
    latest !== undefined && latest.summary === null && data?.experiment?.summary != null
      ? data.experiment
      : (latest ?? data?.experiment);
  if (experiment === undefined || data === undefined) {
    return (
      <Section title={t('Experiment')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton lines={6} /> : null}
      </Section>
    );
  }
  const download = async (format: ExperimentReportFormat) => {
    try {
      const { experimentReport: file } = await run(ExperimentFileDocument, { id, format });
      saveFile(new Blob([file.content], { type: file.contentType }), file.filename);
    } catch (cause) {
      sayError(cause);
    }
  };
  const { word, tone } = describeStatus(t, experiment.status);
  const titles = experiment.variants.map((one) => variantTitle(t, one));
  const verdictWords = { WORSE: t('Worse'), BETTER: t('Better'), SAME: t('The same') };
  return (
    <div className={styles.screen}>
      <Section
        title={titles.join(' · ')}
        lead={
          <span className={styles.badges}>
            <Badge tone={tone}>{word}</Badge>
            {t('{tokens} of {max} tokens', { tokens: number(experiment.tokens), max: number(experiment.tokensMax) })}
            {experiment.cost > 0 ? ` · ${formatCost(experiment.cost, data.viewer.costCurrency, number)}` : ''}
          </span>
        }
        actions={
          <>
            <ButtonLink href={overview}>{t('All experiments')}</ButtonLink>
            <Button icon={<Download size={16} aria-hidden />} onClick={() => void download('CSV')}>
              {t('CSV')}
            </Button>
            <Button icon={<Download size={16} aria-hidden />} onClick={() => void download('JUNIT')}>
              {t('JUnit')}
            </Button>
          </>
        }
      >
        <ErrorNote error={error} onRetry={reload} />
        {experiment.error === null ? null : <Note tone="warn">{experiment.error}</Note>}
        <Acts experiment={experiment} currency={data.viewer.costCurrency} isReadOnly={isReadOnly} onChange={setLatest} />
        <Scoring experiment={experiment} />
        <Summary experiment={experiment} currency={data.viewer.costCurrency} />
      </Section>
      <Section title={t('Case by case')}>
        {experiment.variants.length < 3 ? null : (
          <SelectField
            label={t('Compared with {version}', { version: titles[0] ?? '' })}
            value={variant}
            onChange={setVariant}
            options={titles.slice(1).map((title, index) => ({ value: index + 1, label: title }))}
          />
        )}
        {experiment.variants.length < 2 ? null : (
          <SelectField
            label={t('Which cases')}
            value={verdict}
            onChange={setVerdict}
            options={[{ value: '', label: t('All') }, ...verdicts.map((one) => ({ value: one, label: verdictWords[one] }))]}
          />
        )}
        <Pairs variants={experiment.variants} compared={variant} pairs={pages.nodes} />
        <ShowMore pages={pages} />
      </Section>
    </div>
  );
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
