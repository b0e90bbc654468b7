import type { MorePages } from '../graphql/hooks.ts';
import { useText } from '../text/text.ts';
import { ErrorNote } from './feedback.tsx';
import { Button } from './form/button.tsx';
import styles from './small.module.css';

/** The foot of a list: brings its next page, and says why one did not come. */
export function ShowMore({
  pages: { hasMore, isLoadingMore, error, loadMore },
}: {
  readonly pages: Pick<MorePages<{ readonly id: string }>, 'hasMore' | 'isLoadingMore' | 'error' | 'loadMore'>;
}) {
  const { t } = useText();
  if (!hasMore) return null;
  return (
    <div className={styles.more}>
      <ErrorNote error={error} />
      <Button isBusy={isLoadingMore} onClick={loadMore}>
        {t('Show more')}
      </Button>
    </div>
  );
}
