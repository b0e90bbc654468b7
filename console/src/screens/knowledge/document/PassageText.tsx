import { useMemo } from 'react';
import { markPassage } from '../../../parts/markdown/marks.ts';
import { ReadText } from '../../../parts/markdown/ReadText.tsx';
import { useText } from '../../../text/text.ts';
import styles from './document.module.css';
import type { CitedDocument } from './place.ts';

/** A passage with the text around it. */
export function PassageText({
  passage: { isCutBefore, isCutAfter, before, text, after, mimeType },
  support,
}: {
  readonly passage: NonNullable<CitedDocument['passage']>;
  readonly support: { readonly start: number; readonly end: number } | undefined;
}) {
  const { t } = useText();
  const start = `${isCutBefore ? '… ' : ''}${before}`;
  const marks = useMemo(() => markPassage(start.length, text.length, support), [start, text, support]);
  return (
    <>
      <p className={styles.quiet}>{t('The passage, with the text around it:')}</p>
      <div className={styles.text}>
        <ReadText text={`${start}${text}${after}${isCutAfter ? ' …' : ''}`} mimeType={mimeType} marks={marks} headingLevel={2} />
      </div>
    </>
  );
}
