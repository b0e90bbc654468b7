import { useSyncExternalStore } from 'react';
import { useText } from '../../text/text.ts';

let news = { id: 0, text: '' };
const listeners = new Set<() => void>();
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Says something that happened to who does not see the page, once what is being said is over. */
export function announce(text: string): void {
  news = { id: news.id + 1, text };
  for (const listener of listeners) listener();
}

/** The one place that screen readers read `announce` from. */
export function Announcer() {
  const { t } = useText();
  const { id, text } = useSyncExternalStore(subscribe, () => news);
  return (
    <div role="status" aria-label={t('News')} className="visually-hidden">
      {/* Another element each time: the same words are said again. */}
      <span key={id}>{text}</span>
    </div>
  );
}
