import { useEffect, useRef } from 'react';
import { useText } from '../../../text/text.ts';
import { announce } from '../../../ui/overlay/announcer.tsx';
import { type StatedSource, useWords } from '../words.ts';

type NamedSource = StatedSource & { readonly id: string; readonly name: string; readonly lastIndexedAt: string | null };

/** Tells who does not see the page that the indexing of a source has ended. */
export function useStateNews(sources: readonly NamedSource[]): void {
  const { t } = useText();
  const { describeState } = useWords();
  const seen = useRef(new Map<string, { readonly isBusy: boolean; readonly lastIndexedAt: string | null }>());
  useEffect(() => {
    for (const { id, name, lastIndexedAt, ...source } of sources) {
      const { label, isBusy } = describeState(source);
      const before = seen.current.get(id);
      // A short reading begins and ends between two looks: the page sees only that its time is another.
      const hasEnded = before !== undefined && !isBusy && (before.isBusy || before.lastIndexedAt !== lastIndexedAt);
      seen.current.set(id, { isBusy, lastIndexedAt });
      if (hasEnded) announce(t('{name}: {state}', { name, state: label }));
    }
  });
}
