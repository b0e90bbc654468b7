import { createContext, useContext } from 'react';
import { useText } from '../../text/text.ts';
import styles from './markdown.module.css';

/** What an answer cites, and how a citation is opened. */
export interface AnswerCitations {
  readonly citations: readonly { readonly index: number; readonly name: string }[];
  readonly open: (index: number) => void;
}

/** The passages that the text around cites. */
export const CitationsContext = createContext<AnswerCitations>({ citations: [], open: () => undefined });

/** The number of a citation, which opens its passage; a number in brackets that cites nothing is text. */
export function CitationMark({ index }: { readonly index: number }) {
  const { t } = useText();
  const { citations, open } = useContext(CitationsContext);
  const citation = citations.find((each) => each.index === index);
  if (citation === undefined) return `[${index}]`;
  return (
    <button
      type="button"
      className={styles.citation}
      title={citation.name}
      aria-label={t('Source {index}: {name}', { index, name: citation.name })}
      onClick={() => open(index)}
    >
      {index}
    </button>
  );
}
