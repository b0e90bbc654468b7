import { FlaskConical, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
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
import { EvaluationDocument, type EvaluationQuery, type ExperimentRowFragment } from './documents.ts';
import { ExperimentDialog } from './ExperimentDialog.tsx';
import { GateCard } from './GateCard.tsx';
import { describeComparison, describeStatus, evaluationAddress, variantTitle } from './words.ts';

/** What an agent is asked before people ask it. */
export function Overview({ agent, isReadOnly }: { readonly agent: EditorAgent; readonly isReadOnly: boolean }) {
  const [, go] = useLocation();
  const { data, error, isLoading, reload } = usePage(EvaluationDocument, { id: agent.id });
  const [dialog, setDialog] = useState<'dataset' | 'experiment'>();
  const close = () => setDialog(undefined);
  const openPart = (id: string) => go(evaluationAddress(agent.id, id));
  return (
    <div className={styles.screen}>
      <Datasets agentId={agent.id} datasets={data?.datasets.nodes} onNew={isReadOnly ? undefined : () => setDialog('dataset')}>
        <ErrorNote error={error} onRetry={reload} />
        {isLoading ? <Skeleton /> : null}
      </Datasets>
      {data === undefined || data.datasets.nodes.length === 0 ? null : (
        <>
          <Experiments agentId={agent.id} page={data} onNew={isReadOnly ? undefined : () => setDialog('experiment')} />
          <GateCard agent={agent} page={data} isReadOnly={isReadOnly} onChange={reload} />
        </>
      )}
      {dialog === 'dataset' ? <DatasetDialog agentId={agent.id} onClose={close} onMade={openPart} /> : null}
      {dialog === 'experiment' && data !== undefined ? (
        <ExperimentDialog agent={agent} page={data} onClose={close} onBegun={openPart} />
      ) : null}
    </div>
  );
}

function Datasets({
  agentId,
  datasets,
  onNew,
  children,
}: {
  readonly agentId: string;
  /** Undefined until they are loaded. */
  readonly datasets: EvaluationQuery['datasets']['nodes'] | undefined;
  /** Undefined for readers who may not make one. */
  readonly onNew: (() => void) | undefined;
  /** How loading them goes. */
  readonly children: ReactNode;
}) {
  const { t } = useText();
  const add =
    onNew === undefined ? undefined : (
      <Button icon={<Plus size={16} aria-hidden />} onClick={onNew}>
        {t('New dataset')}
      </Button>
    );
  const hasSome = datasets !== undefined && datasets.length > 0;
  return (
    <Section
      title={t('Datasets')}
      lead={t('Questions, and what a good answer must be. A version can be asked all of them before people get it.')}
      actions={hasSome ? add : undefined}
    >
      {children}
      {datasets?.length === 0 ? (
        <EmptyState icon={<FlaskConical size={26} aria-hidden />} title={t('No datasets yet')} action={add}>
          {t('Begin with ten questions that people ask, and a fact that must stand in each answer.')}
        </EmptyState>
      ) : null}
      {hasSome ? (
        <Rows label={t('Datasets')}>
          {datasets.map(({ id, name, description, caseCount, draftCount, updatedAt }) => (
            <Row
              key={id}
              title={<Link href={evaluationAddress(agentId, id)}>{name}</Link>}
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
      ) : null}
    </Section>
  );
}

function Experiments({
  agentId,
  page,
  onNew,
}: {
  readonly agentId: string;
  readonly page: EvaluationQuery;
  readonly onNew: (() => void) | undefined;
}) {
  const { t } = useText();
  const experiments = page.experiments.nodes;
  return (
    <Section
      title={t('Experiments')}
      lead={t('Versions answer the same questions; the answers are compared case by case.')}
      actions={onNew === undefined ? undefined : <Button onClick={onNew}>{t('New experiment')}</Button>}
    >
      {experiments.length === 0 ? (
        <p className={styles.quiet}>{t('Nothing was asked yet.')}</p>
      ) : (
        <Rows label={t('Experiments')}>
          {experiments.map((experiment) => (
            <ExperimentRow
              key={experiment.id}
              agentId={agentId}
              experiment={experiment}
              dataset={page.datasets.nodes.find(({ id }) => id === experiment.datasetId)?.name}
              currency={page.viewer.costCurrency}
            />
          ))}
        </Rows>
      )}
    </Section>
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
