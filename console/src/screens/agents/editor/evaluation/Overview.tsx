import { FlaskConical, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { usePage } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { Badge, EmptyState, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import { Section } from '../../../../ui/page.tsx';
import { Time } from '../../../../ui/small.tsx';
import { Row, Rows } from '../parts/Rows.tsx';
import type { EditorAgent } from '../section.ts';
import styles from '../versions/versions.module.css';
import { DatasetDialog } from './DatasetDialog.tsx';
import { EvaluationDocument, type ExperimentRowFragment } from './documents.ts';
import { ExperimentDialog } from './ExperimentDialog.tsx';
import { GateCard } from './GateCard.tsx';
import { describeComparison, describeStatus, evaluationAddress, variantTitle } from './words.ts';

/** What an agent is asked before people ask it. */
export function Overview({ agent, isReadOnly }: { readonly agent: EditorAgent; readonly isReadOnly: boolean }) {
  const { t } = useText();
  const [, go] = useLocation();
  const { data, error, isLoading, reload } = usePage(EvaluationDocument, { id: agent.id });
  const [dialog, setDialog] = useState<'dataset' | 'experiment'>();
  const datasets = data?.datasets.nodes ?? [];
  const experiments = data?.experiments.nodes ?? [];
  const newDataset = isReadOnly ? undefined : (
    <Button icon={<Plus size={16} aria-hidden />} onClick={() => setDialog('dataset')}>
      {t('New dataset')}
    </Button>
  );
  return (
    <div className={styles.screen}>
      <Section
        title={t('Datasets')}
        lead={t('Questions, and what a good answer must be. A version can be asked all of them before people get it.')}
        actions={datasets.length > 0 ? newDataset : undefined}
      >
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton /> : null}
        {data !== undefined && datasets.length === 0 ? (
          <EmptyState icon={<FlaskConical size={26} aria-hidden />} title={t('No datasets yet')} action={newDataset}>
            {t('Begin with ten questions that people ask, and a fact that must stand in each answer.')}
          </EmptyState>
        ) : null}
        {datasets.length === 0 ? null : (
          <Rows label={t('Datasets')}>
            {datasets.map(({ id, name, description, caseCount, draftCount, updatedAt }) => (
              <Row
                key={id}
                title={<Link href={evaluationAddress(agent.id, id)}>{name}</Link>}
                badges={draftCount === 0 ? null : <Badge tone="warn">{t('{count} to look at', { count: draftCount })}</Badge>}
                note={
                  <>
                    {description === '' ? null : <p>{description}</p>}
                    <p>
                      {t('{count, plural, one {# case} other {# cases}}', { count: caseCount })} · <Time at={updatedAt} />
                    </p>
                  </>
                }
              />
            ))}
          </Rows>
        )}
      </Section>
      {datasets.length === 0 || data === undefined ? null : (
        <>
          <Section
            title={t('Experiments')}
            lead={t('Versions answer the same questions; the answers are compared case by case.')}
            actions={isReadOnly ? undefined : <Button onClick={() => setDialog('experiment')}>{t('New experiment')}</Button>}
          >
            {experiments.length === 0 ? <p className={styles.quiet}>{t('Nothing was asked yet.')}</p> : null}
            {experiments.length === 0 ? null : (
              <Rows label={t('Experiments')}>
                {experiments.map((experiment) => (
                  <ExperimentRow
                    key={experiment.id}
                    agentId={agent.id}
                    experiment={experiment}
                    dataset={datasets.find(({ id }) => id === experiment.datasetId)?.name}
                    currency={data.viewer.costCurrency}
                  />
                ))}
              </Rows>
            )}
          </Section>
          <GateCard agent={agent} page={data} isReadOnly={isReadOnly} onChange={reload} />
        </>
      )}
      {dialog === 'dataset' ? (
        <DatasetDialog
          agentId={agent.id}
          onClose={() => setDialog(undefined)}
          onMade={(id) => go(evaluationAddress(agent.id, id))}
        />
      ) : null}
      {dialog === 'experiment' && data !== undefined ? (
        <ExperimentDialog
          agent={agent}
          page={data}
          onClose={() => setDialog(undefined)}
          onBegun={(id) => go(evaluationAddress(agent.id, id))}
        />
      ) : null}
    </div>
  );
}

function ExperimentRow({
  agentId,
  experiment,
  dataset,
  currency,
}: {
  readonly agentId: string;
  readonly experiment: ExperimentRowFragment;
  readonly dataset: string | undefined;
  readonly currency: string;
}) {
  const { t, number } = useText();
  const { word, tone } = describeStatus(t, experiment.status);
  const title = experiment.variants.map((variant) => variantTitle(t, variant)).join(' · ');
  return (
    <Row
      title={<Link href={evaluationAddress(agentId, experiment.id)}>{title}</Link>}
      badges={<Badge tone={tone}>{word}</Badge>}
      note={
        <>
          {experiment.summary?.comparisons.map((comparison) => (
            <p key={comparison.variant} className={styles.words}>
              {describeComparison(t, comparison)}
            </p>
          ))}
          <p>
            {[dataset, experiment.cost > 0 ? formatCost(experiment.cost, currency, number) : undefined]
              .filter((part) => part !== undefined)
              .join(' · ')}{' '}
            · <Time at={experiment.createdAt} />
          </p>
        </>
      }
    />
  );
}
