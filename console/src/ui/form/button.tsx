import type { ButtonHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { Link } from 'wouter';
import { Spinner } from '../progress.tsx';
import styles from './button.module.css';

export type ButtonVariant = 'primary' | 'plain' | 'quiet' | 'danger';

export interface ButtonLook {
  readonly variant?: ButtonVariant;
  readonly size?: 'small' | 'normal';
  readonly icon?: ReactNode;
}

const joinClasses = ({ variant = 'plain', size = 'normal' }: ButtonLook) =>
  [styles.button, styles[variant], styles[size]].join(' ');

/** A button with words. While it is busy it takes no click, and keeps the focus: one that is disabled would lose it. */
export function Button({
  variant,
  size,
  icon,
  isBusy = false,
  children,
  onClick,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & ButtonLook & { readonly isBusy?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      className={joinClasses(look(variant, size))}
      aria-busy={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? refuse : onClick}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** Of a form, the Enter that would send it once more comes as a click too. */
const refuse = (event: MouseEvent) => event.preventDefault();

/** A link that looks like a button. */
export function ButtonLink({
  variant,
  size,
  icon,
  href,
  children,
}: ButtonLook & { readonly href: string; readonly children: ReactNode }) {
  return (
    <Link href={href} className={joinClasses(look(variant, size))}>
      {icon}
      {children}
    </Link>
  );
}

/** A button that shows an icon alone; `label` is its name, and is shown when the pointer rests on it. */
export function IconButton({
  label,
  children,
  isActive,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { readonly label: string; readonly isActive?: boolean }) {
  return (
    <button type="button" title={label} {...rest} aria-label={label} aria-pressed={isActive} className={styles.icon}>
      {children}
    </button>
  );
}

function look(variant: ButtonVariant | undefined, size: ButtonLook['size']): ButtonLook {
  return { variant: variant ?? 'plain', size: size ?? 'normal' };
}
