import { useMemo } from 'react';
import { Link } from 'wouter';
import { documentHref } from '../../../parts/document-href.ts';
import type { Mark } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { useText } from '../../../text/text.ts';
import { Badge } from '../../../ui/feedback.tsx';
import type { MatchedWordOrigin, TrySearchQuery } from '../documents.ts';
import styles from './search.module.css';

type Found = TrySearchQuery['searchKnowledge']['hits'][number];

/** One passage: where it stands, and why it was found. `maxima`: the best scores of the whole search. */
export function Hit({
  hit,
  maxima,
}: {
  readonly hit: Found;
  readonly maxima: { readonly lexical: number; readonly rerank: number };
}) {
  const { t, number } = useText();
  const { title, headingPath, page, text, words, scores, source, item, mayCite } = hit;
  const origins: Readonly<Record<MatchedWordOrigin, string | undefined>> = {
    QUESTION: undefined,
    CONTEXT: t('said before'),
    SPELLING: t('spelled like a word of the question'),
  };
  const where = [source?.name, headingPath, page === null ? null : t('page {page}', { page })].filter(
    (part) => part !== null && part !== undefined && part !== '' && part !== title,
  );
  const legs = [
    { name: t('Words'), score: scores.lexical, share: maxima.lexical === 0 ? 0 : (scores.lexical ?? 0) / maxima.lexical },
    { name: t('Meaning'), score: scores.vector, share: scores.vector ?? 0 },
    { name: t('Reranker'), score: scores.rerank, share: maxima.rerank === 0 ? 0 : (scores.rerank ?? 0) / maxima.rerank },
  ].filter(({ score }) => score !== null);
  return (
    <li className={styles.hit}>
      <header className={styles.hitHead}>
        <div>
          <Link href={documentHref(hit)}>{title}</Link>
          {where.length === 0 ? null : <p className={styles.quiet}>{where.join(' · ')}</p>}
        </div>
        {mayCite ? null : <Badge tone="warn">{t('Not cited')}</Badge>}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={styles.passage} tabIndex={0} aria-label={t('Passage of {title}', { title })}>
        <HitText text={text} mimeType={item?.originalContent.mimeType} words={words.map(({ word }) => word).join(' ')} />
      </section>
      <div className={styles.why}>
        <p>
          {explainHit(hit, t)}{' '}
          {words.map(({ word, origin }) => (
            <span key={`${origin} ${word}`} className={styles.word} title={origins[origin]}>
              {word}
              {origins[origin] === undefined ? null : <small> ({origins[origin]})</small>}
            </span>
          ))}
        </p>
        <dl className={styles.legs}>
          {legs.map(({ name, score, share }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <meter min={0} max={1} value={Math.max(0, Math.min(1, share))} aria-label={name} />
                <span>{number(score ?? 0, { maximumFractionDigits: 2, minimumFractionDigits: 2 })}</span>
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </li>
  );
}

function explainHit({ scores, words }: Found, t: ReturnType<typeof useText>['t']): string {
  const byMeaning = scores.vector !== null;
  if (words.length === 0) return t('Found by its meaning.');
  return byMeaning ? t('Found by its meaning, and by these words:') : t('Found by these words:');
}

/** The text with the words that it was found by. A stem marks the words that begin with it. */
function HitText({
  text,
  mimeType,
  words,
}: {
  readonly text: string;
  readonly mimeType: string | null | undefined;
  readonly words: string;
}) {
  const marks = useMemo(() => markWords(text, words), [text, words]);
  return <ReadText text={text} mimeType={mimeType} marks={marks} headingLevel={2} isStill />;
}

function markWords(text: string, words: string): readonly Mark[] {
  if (words === '') return [];
  const escaped = words.split(' ').map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})[\\p{L}\\p{N}]*`, 'giu');
  return [...text.matchAll(pattern)].map(({ 0: word, index }) => ({ start: index, end: index + word.length, kind: 'support' }));
}
