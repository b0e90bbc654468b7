import { useList } from '../../../../graphql/hooks.ts';
import { useText } from '../../../../text/text.ts';
import { ErrorNote, ShowMore, Skeleton } from '../../../../ui/feedback.tsx';
import styles from '../source.module.css';
import { UnidentifiedPeopleDocument } from './documents.ts';

/** Who is not known at a source, for administrators: they find what is open to everybody. */
export function UnidentifiedPeople({ sourceId }: { readonly sourceId: string }) {
  const { t } = useText();
  const { error, isLoading, reload, pages } = useList(
    UnidentifiedPeopleDocument,
    { id: sourceId },
    (data) => data.unidentifiedPeople,
  );
  const title = t('People without an identity there');
  return (
    <div className={styles.missing}>
      <h3>{title}</h3>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={2} /> : null}
      {pages.nodes.length === 0 ? null : (
        <ul className={styles.list} aria-label={title}>
          {pages.nodes.map(({ id, name, email }) => (
            <li key={id}>
              {name}
              <div className={styles.quiet}>{email}</div>
            </li>
          ))}
        </ul>
      )}
      <ShowMore pages={pages} />
    </div>
  );
}
