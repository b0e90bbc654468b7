import type { ReactNode } from 'react';
import { useTitle } from '../ui/page.tsx';
import styles from './public-page.module.css';

/** A page that needs no session, under the header of the manual and the references, which the service writes. */
export function PublicPage({
  title,
  isCard = false,
  children,
}: {
  readonly title: string;
  /** One thing to do, in the middle. */
  readonly isCard?: boolean;
  readonly children: ReactNode;
}) {
  useTitle(title);
  return (
    <main id="main" tabIndex={-1} className={styles.page}>
      {isCard ? <div className={styles.card}>{children}</div> : children}
    </main>
  );
}
