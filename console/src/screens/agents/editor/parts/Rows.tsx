import type { ReactNode } from 'react';
import styles from './rows.module.css';

/** Parts of an agent, a row each. */
export function Rows({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ul className={styles.rows} aria-label={label}>
      {children}
    </ul>
  );
}

interface RowProps {
  readonly title: ReactNode;
  readonly note?: ReactNode;
  readonly badges?: ReactNode;
  /** Buttons at the end of the row. */
  readonly actions?: ReactNode;
  /** Under the row, over its whole width. */
  readonly children?: ReactNode;
}

export function Row({ title, note, badges, actions, children }: RowProps) {
  return (
    <li className={styles.row}>
      <div className={styles.line}>
        <div className={styles.words}>
          <div className={styles.title}>
            <div>{title}</div>
            {badges}
          </div>
          {note === undefined || note === '' ? null : <div className={styles.note}>{note}</div>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </div>
      {children}
    </li>
  );
}
