import { useText } from '../../../text/text.ts';
import styles from './document.module.css';
import { MarkedText } from './MarkedText.tsx';
import type { CitedDocument } from './place.ts';

/** A passage with the text around it. */
export function PassageText({ passage }: { readonly passage: NonNullable<CitedDocument['passage']> }) {
  const { t } = useText();
  const before = `${passage.isCutBefore ? '… ' : ''}${passage.before}`;
  const after = `${passage.after}${passage.isCutAfter ? ' …' : ''}`;
  return (
    <>
      <p className={styles.quiet}>{t('The passage, with the text around it:')}</p>
      <MarkedText
        text={before + passage.text + after}
        range={{ start: before.length, end: before.length + passage.text.length }}
      />
    </>
  );
}
