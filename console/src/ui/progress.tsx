import styles from './progress.module.css';

/** Something is being done. Give it words where nothing else says what. */
export function Spinner({ label }: { readonly label?: string }) {
  const turning = <span className={styles.spinner} aria-hidden />;
  if (label === undefined) return turning;
  return (
    <span role="status" aria-label={label}>
      {turning}
    </span>
  );
}

/** How far something is, from 0 to 100; without a value it runs on. */
export function Progress({ percent, label }: { readonly percent: number | undefined; readonly label: string }) {
  return <progress className={styles.progress} max={100} value={percent} aria-label={label} />;
}
