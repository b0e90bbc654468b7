import { createContext, type ReactNode, use } from 'react';
import { useText } from '../../text/text.ts';
import styles from './markdown.module.css';

/** The footnotes of the text around: their numbers by their labels, and what their ids begin with. */
export interface FootnoteNumbers {
  readonly prefix: string;
  readonly numbers: ReadonlyMap<string, number>;
}
export const FootnotesContext = createContext<FootnoteNumbers>({ prefix: '', numbers: new Map() });

/** The raised number that leads to a footnote; a label without a footnote is text. */
export function FootnoteMark({ label, raw }: { readonly label: string; readonly raw: string }) {
  const { t } = useText();
  const { prefix, numbers } = use(FootnotesContext);
  const number = numbers.get(label);
  if (number === undefined) return raw;
  return (
    <sup>
      <a
        href={`#${prefix}-${number}`}
        data-note={`${prefix}-${number}`}
        className={styles.footnoteMark}
        aria-label={t('Footnote {number}', { number })}
        onClick={(event) => {
          // Within the text, without an address of its own.
          event.preventDefault();
          lead(document.getElementById(`${prefix}-${number}`));
        }}
      >
        {number}
      </a>
    </sup>
  );
}

/** Footnotes at the end of their text, each with a way back. */
export function Footnotes({
  notes,
}: {
  readonly notes: readonly { readonly label: string; readonly number: number; readonly content: ReactNode }[];
}) {
  const { t } = useText();
  const { prefix } = use(FootnotesContext);
  if (notes.length === 0) return null;
  return (
    <section className={styles.footnotes} aria-label={t('Footnotes')}>
      <ol>
        {notes.map(({ label, number, content }) => (
          <li key={label} id={`${prefix}-${number}`} tabIndex={-1}>
            {content}
            <button
              type="button"
              aria-label={t('Back to the text of footnote {number}', { number })}
              onClick={() => lead(document.querySelector(`[data-note="${prefix}-${number}"]`))}
            >
              ↩
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function lead(target: HTMLElement | null): void {
  target?.scrollIntoView({ block: 'center' });
  target?.focus({ preventScroll: true });
}
