import { RotateCw } from 'lucide-react';
import { useEffect } from 'react';
import { useList, useMutate } from '../../../graphql/hooks.ts';
import { useReadingFailures } from '../../../parts/reading-failures.ts';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, ShowMore } from '../../../ui/feedback.tsx';
import { Button } from '../../../ui/form/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { RetrySourceDocument, SourceFailuresDocument } from '../documents.ts';
import { useWords } from '../words.ts';
import styles from './source.module.css';
import type { Source } from './source.ts';
import { useChanges } from './use-changes.ts';

/** The documents that are not read, with what may help, and another try. */
export function Failures({ source }: { readonly source: Source }) {
  const { t } = useText();
  const { states } = useWords();
  const describeFailure = useReadingFailures();
  const { id, statistics, canEdit, activeRun } = source;
  const { data, error, reload, pages } = useList(SourceFailuresDocument, { id }, (data) => data.dataSource?.failedItems);
  const retry = useMutate(RetrySourceDocument);
  const changes = useChanges(source);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another count is the reason to load it again
  useEffect(() => {
    if (data !== undefined) reload();
  }, [changes]);
  if (pages.nodes.length === 0) return <ErrorNote error={error} onRetry={reload} />;
  const mayRetry = canEdit && activeRun === null && statistics.failedCount > 0;
  return (
    <Section
      title={t('Not read')}
      lead={t('These documents answer no question. Each says why.')}
      actions={
        mayRetry ? (
          <Button icon={<RotateCw size={16} aria-hidden />} isBusy={retry.isBusy} onClick={() => void retry.run({ id })}>
            {t('Try the failed ones again')}
          </Button>
        ) : undefined
      }
    >
      <ErrorNote error={retry.error} />
      <ul className={styles.list} aria-label={t('Not read')}>
        {pages.nodes.map((item) => (
          <li key={item.id}>
            <div className={styles.itemHead}>
              <b>{item.name}</b>
              <Badge tone={states[item.indexStatus].tone}>{states[item.indexStatus].label}</Badge>
            </div>
            <p>{describeFailure(item) ?? t('No reason is known.')}</p>
            {item.isRetryable ? <p className={styles.quiet}>{t('Another try may help.')}</p> : null}
          </li>
        ))}
      </ul>
      <ShowMore pages={pages} />
    </Section>
  );
}
