import type { ReactNode } from 'react';
import { Link } from 'wouter';
import styles from '../../../parts/people/people.module.css';
import { Avatar } from '../../../ui/small.tsx';

/** A person in a list: picture, name and address. */
export function PersonCell({
  name,
  email,
  href,
  children,
}: {
  readonly name: string;
  readonly email?: string;
  readonly href?: string;
  readonly children?: ReactNode;
}) {
  return (
    <span className={styles.person}>
      <Avatar name={name} />
      <span className={styles.personWords}>
        <span>
          {href === undefined ? name : <Link href={href}>{name}</Link>} {children}
        </span>
        {email === undefined || email === name ? null : <span className={styles.quiet}>{email}</span>}
      </span>
    </span>
  );
}
