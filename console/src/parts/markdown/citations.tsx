import { createContext, useContext, useMemo } from 'react';
import { useText } from '../../text/text.ts';
import styles from './markdown.module.css';
import { lastSentence } from './reading/sentences.ts';

/** What an answer cites, and how a citation is opened. */
export interface AnswerCitations {
  readonly citations: readonly { readonly index: number; readonly name: string }[];
  /** @param claim  the sentence that the citation stands behind. */
  readonly open: (index: number, claim?: string) => void;
}

/** The passages that the text around cites. */
export const CitationsContext = createContext<AnswerCitations>({ citations: [], open: () => undefined });

/** The citations of an answer beside which no passages are shown: each opens its own address. */
export function useLinkedCitations(
  citations: readonly { readonly index: number; readonly name: string; readonly url: string }[],
): AnswerCitations {
  return useMemo(() => {
    const open = (index: number) => {
      const url = citations.find((each) => each.index === index)?.url;
      if (url !== undefined) window.open(url, '_blank', 'noopener,noreferrer');
    };
    return { citations, open };
  }, [citations]);
}

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
      data-printed
      title={citation.name}
      aria-label={t('Source {index}: {name}', { index, name: citation.name })}
      onClick={(event) => open(index, readClaim(event.currentTarget))}
    >
      {index}
    </button>
  );
}

/** The sentence before a citation, in the paragraph, item or cell that it stands in. */
function readClaim(mark: HTMLElement): string {
  const range = document.createRange();
  range.setStart(mark.closest('p, li, td, th, h3, h4, h5, h6, summary') ?? mark, 0);
  range.setEndBefore(mark);
  const before = range.cloneContents();
  // Other citations are no words.
  for (const button of before.querySelectorAll('button')) button.remove();
  return lastSentence(before.textContent ?? '');
}
