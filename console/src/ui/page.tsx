import { type ReactNode, useEffect } from 'react';
import { Skeleton } from './feedback.tsx';
import styles from './page.module.css';

interface PageProps {
  readonly title: string;
  /** Under the title: what this place is. */
  readonly lead?: ReactNode;
  /** Beside the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  readonly width?: 'normal' | 'full';
}

/** A screen other than the chat: its title, what can be done, and its content. */
export function Page({ title, lead, actions, children, width = 'normal' }: PageProps) {
  useTitle(title);
  return (
    <div className={`${styles.page} ${styles[width]}`}>
      <header className={styles.head}>
        <div>
          <h1>{title}</h1>
          {lead === undefined ? null : <div className={styles.lead}>{lead}</div>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Where a screen will be whose code is being loaded. It has no heading yet. */
export function PageSkeleton() {
  return (
    <div className={`${styles.page} ${styles.normal}`}>
      <Skeleton lines={6} />
    </div>
  );
}

/** The title of the window. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Parley' : `${title} · Parley`;
  }, [title]);
}

/** A part of a page with a heading. */
export function Section({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className={styles.section}>
      <header className={styles.sectionHead}>
        <div>
          <h2>{title}</h2>
          {lead === undefined ? null : <div className={styles.lead}>{lead}</div>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Search, filters and buttons over a list. */
export function Toolbar({ children }: { readonly children: ReactNode }) {
  return <div className={styles.toolbar}>{children}</div>;
}

/** A table that scrolls sideways where it is too wide. `label` is its name. */
export function Table({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section className={styles.scroll} aria-label={label} tabIndex={0}>
      <table className={styles.table} aria-label={label}>
        {children}
      </table>
    </section>
  );
}

/** Names and values. */
export function Facts({ items }: { readonly items: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Card({ children }: { readonly children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}
