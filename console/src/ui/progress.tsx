import styles from './progress.module.css';

/** Something is being done. Give it words where nothing else says what. */
export function Spinner({ label }: { readonly label?: string }) {
  const wheel = <span className={styles.spinner} aria-hidden />;
  if (label === undefined) return wheel;
  return (
    <span role="status" aria-label={label}>
      {wheel}
    </span>
  );
}

/** How far something is, from 0 to 100; without a value it runs on. */
export function Progress({ percent, label }: { readonly percent: number | undefined; readonly label: string }) {
  return <progress className={styles.progress} max={100} value={percent} aria-label={label} />;
}
