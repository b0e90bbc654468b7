import { type RefObject, useEffect, useRef } from 'react';

/** Scrolls to what is marked, when it is marked and when the text with it comes: to the words that support an answer before the passage around them. */
export function useMarkInView<Place extends HTMLElement>(
  marks: readonly { readonly start: number; readonly end: number }[],
): RefObject<Place | null> {
  const place = useRef<Place>(null);
  const wanted = marks.map(({ start, end }) => `${start}-${end}`).join(' ');
  useEffect(() => {
    if (wanted === '') return;
    const mark = place.current?.querySelector('mark[data-kind="support"]') ?? place.current?.querySelector('mark');
    const isLong = (mark?.getBoundingClientRect().height ?? 0) > innerHeight / 2;
    mark?.scrollIntoView({ block: isLong ? 'start' : 'center' });
  }, [wanted]);
  return place;
}
