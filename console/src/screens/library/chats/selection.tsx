import { useState } from 'react';
import { useText } from '../../../text/text.ts';

/** What a call takes at most. */
const chosenMax = 100;

export interface Selection {
  readonly ids: readonly string[];
  has(id: string): boolean;
  toggle(id: string): void;
  /** All that are shown, as many as a call takes; or none of them. */
  toggleAll(): void;
  clear(): void;
}

/** Which of the things shown are chosen. One that is not shown any more is not chosen either. */
export function useSelection(shownIds: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const ids = shownIds.filter((id) => chosen.has(id));
  return {
    ids,
    has: (id) => chosen.has(id),
    toggle: (id) => {
      const next = new Set(ids);
      if (!next.delete(id) && next.size < chosenMax) next.add(id);
      setChosen(next);
    },
    toggleAll: () => setChosen(ids.length > 0 ? new Set() : new Set(shownIds.slice(0, chosenMax))),
    clear: () => setChosen(new Set()),
  };
}

/** Chooses all that is shown, or nothing, and says how many are chosen. */
export function SelectAll({ selection, shownCount }: { readonly selection: Selection; readonly shownCount: number }) {
  const { t } = useText();
  const count = selection.ids.length;
  return (
    <label>
      <input
        type="checkbox"
        aria-label={t('Select all shown')}
        checked={count > 0 && count === Math.min(shownCount, chosenMax)}
        ref={(box) => {
          if (box !== null) box.indeterminate = count > 0 && count < shownCount;
        }}
        onChange={selection.toggleAll}
      />
      <span aria-live="polite">{count === 0 ? t('Select chats to change them together') : t('{count} selected', { count })}</span>
    </label>
  );
}
