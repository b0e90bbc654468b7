import { Link } from 'wouter';
import styles from './tabs.module.css';

/** Parts of a screen, each at an address of its own. */
export function TabLinks({
  label,
  tabs,
  current,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly href: string; readonly label: string; readonly count?: number }[];
  readonly current: string;
}) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map(({ href, label: name, count }) => (
        <Link key={href} href={href} className={styles.tab} aria-current={href === current ? 'page' : undefined}>
          {name}
          {count === undefined ? null : <span className={styles.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  );
}
