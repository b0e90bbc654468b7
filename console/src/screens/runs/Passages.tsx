import { Link } from 'wouter';
import { useText } from '../../text/text.ts';
import type { PassageFragment } from './documents.ts';
import styles from './runs.module.css';

/** Documents that a search found, best first, with how well they fit. */
export function Passages({ title, passages }: { readonly title: string; readonly passages: readonly PassageFragment[] }) {
  const { t, number } = useText();
  const visiblePassages = passages.filter(({ isHidden }) => !isHidden);
  const hiddenCount = passages.length - visiblePassages.length;
  const best = Math.max(...passages.map(({ score }) => score), 0);
  return (
    <div className={styles.passages}>
      <h3>{title}</h3>
      <ol>
        {visiblePassages.map(({ title: name, score, dataSource }, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a document may be found with several passages
          <li key={place}>
            <span className={styles.passageTitle}>
              {dataSource?.name === name ? null : `${name} `}
              {dataSource === null ? null : <Link href={`/knowledge/${dataSource.id}`}>{dataSource.name}</Link>}
            </span>
            <span className={styles.scoreBar} aria-hidden>
              <span style={{ width: `${best === 0 ? 0 : Math.max(2, (score / best) * 100)}%` }} />
            </span>
            <span className={styles.score}>{number(score, { maximumFractionDigits: 3, minimumFractionDigits: 3 })}</span>
          </li>
        ))}
      </ol>
      {hiddenCount === 0 ? null : (
        <p className={styles.quiet}>
          {t('{count, plural, one {# passage is} other {# passages are}} hidden from you: you may not open the documents.', {
            count: hiddenCount,
          })}
        </p>
      )}
    </div>
  );
}
