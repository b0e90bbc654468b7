import { useEffect, useRef } from 'react';
import { useText } from '../../../text/text.ts';
import { announce } from '../../../ui/overlay/announcer.tsx';
import { type StatedSource, useWords } from '../words.ts';

type NamedSource = StatedSource & { readonly id: string; readonly name: string };

/** Tells who does not see the page that the indexing of a source has ended. */
export function useStateNews(sources: readonly NamedSource[]): void {
  const { t } = useText();
  const { describeState } = useWords();
  const busyIds = useRef(new Set<string>());
  useEffect(() => {
    for (const source of sources) {
      const { label, isBusy } = describeState(source);
      if (isBusy) busyIds.current.add(source.id);
      else if (busyIds.current.delete(source.id)) announce(t('{name}: {state}', { name: source.name, state: label }));
    }
  });
}
