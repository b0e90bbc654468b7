import { useEffect, useRef } from 'react';
import styles from './document.module.css';

/** A text with one part marked, which is scrolled to. */
export function MarkedText({
  text,
  range,
}: {
  readonly text: string;
  readonly range: { readonly start: number; readonly end: number } | undefined;
}) {
  const mark = useRef<HTMLElement>(null);
  const place = range === undefined ? '' : `${range.start} ${range.end}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is the reason to scroll
  useEffect(() => {
    const isLong = (mark.current?.getBoundingClientRect().height ?? 0) > innerHeight / 2;
    mark.current?.scrollIntoView({ block: isLong ? 'start' : 'center' });
  }, [place]);
  if (range === undefined) return <pre className={styles.text}>{text}</pre>;
  return (
    <pre className={styles.text}>
      {text.slice(0, range.start)}
      <mark ref={mark}>{text.slice(range.start, range.end)}</mark>
      {text.slice(range.end)}
    </pre>
  );
}
