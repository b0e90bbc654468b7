import type { ParleyError } from '@parley/client';
import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { MorePages } from '../graphql/hooks.ts';
import { useText } from '../text/text.ts';
import styles from './feedback.module.css';
import { Button, type ButtonLook } from './form/button.tsx';
import { useFaultWords } from './form/faults/words.ts';

export type Tone = 'neutral' | 'accent' | 'good' | 'warn' | 'bad';

/** A short word about a state. */
export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`${styles.badge} ${styles[tone]}`}>{children}</span>;
}

const icons = { neutral: Info, accent: Info, good: CircleCheck, warn: TriangleAlert, bad: CircleAlert } as const;

/** Sentences about the state of what stands beside them. */
export function Note({
  tone = 'neutral',
  children,
  action,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  const Icon = icons[tone];
  return (
    <div className={`${styles.note} ${styles[tone]}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon size={18} aria-hidden />
      <div className={styles.words}>{children}</div>
      {action}
    </div>
  );
}

/** A failure, in words, beside what caused it. Shows nothing without an error. */
export function ErrorNote({ error, onRetry }: { readonly error: ParleyError | undefined; readonly onRetry?: () => void }) {
  const { t } = useText();
  const { describeError } = useFaultWords();
  if (error === undefined) return null;
  return (
    <Note
      tone="bad"
      action={
        onRetry === undefined ? undefined : (
          <Button size="small" onClick={onRetry}>
            {t('Try again')}
          </Button>
        )
      }
    >
      {describeError(error).map((words) => (
        <p key={words}>{words}</p>
      ))}
      {error.requestId === undefined ? null : <p className={styles.request}>{t('Request {id}', { id: error.requestId })}</p>}
    </Note>
  );
}

/** What an empty place is for, and the one button that starts. */
export function EmptyState({
  icon,
  title,
  isScreen = false,
  children,
  action,
}: {
  readonly icon?: ReactNode;
  readonly title: string;
  /** It stands in place of the whole screen, so that its title is the heading of the page. */
  readonly isScreen?: boolean;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  const Heading = isScreen ? 'h1' : 'h2';
  return (
    <div className={styles.empty}>
      {icon === undefined ? null : <div className={styles.emptyIcon}>{icon}</div>}
      <Heading>{title}</Heading>
      {children === undefined ? null : <div className={styles.emptyText}>{children}</div>}
      {action}
    </div>
  );
}

/** Grey lines where content will be. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  const { t } = useText();
  return (
    <div className={styles.skeleton} role="status" aria-label={t('Loading')}>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <span key={line} />
      ))}
    </div>
  );
}

/** The foot of a list: brings its next page, and says why one did not come. */
export function ShowMore({
  pages: { hasMore, isLoadingMore, error, loadMore },
  ...look
}: Pick<ButtonLook, 'size' | 'variant'> & {
  readonly pages: Pick<MorePages<{ readonly id: string }>, 'hasMore' | 'isLoadingMore' | 'error' | 'loadMore'>;
}) {
  const { t } = useText();
  if (!hasMore) return null;
  return (
    <div className={styles.more}>
      <ErrorNote error={error} />
      <Button {...look} isBusy={isLoadingMore} onClick={loadMore}>
        {t('Show more')}
      </Button>
    </div>
  );
}
