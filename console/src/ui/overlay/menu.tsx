import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './menu.module.css';

export interface MenuItem {
  readonly label: string;
  readonly icon?: ReactNode;
  readonly onSelect: () => void;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** Of a choice: whether it is the one that holds. */
  readonly isChosen?: boolean;
}

/**
 * A button that opens a list of acts. `children` is the button, which must take a ref and props.
 *
 * @param onOpenChange  for what must not move while it is open: it stands beside its button, and ends with it.
 */
export function Menu({
  label,
  items,
  children,
  align = 'end',
  onOpenChange,
}: {
  readonly label: string;
  readonly items: readonly (MenuItem | 'separator')[];
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
  readonly onOpenChange?: (isOpen: boolean) => void;
}) {
  return (
    <DropdownMenu.Root modal={false} {...(onOpenChange === undefined ? {} : { onOpenChange })}>
      <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align={align} sideOffset={4} collisionPadding={8} aria-label={label}>
          {items.map((item, index) =>
            item === 'separator' ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: separators have nothing of their own
              <DropdownMenu.Separator key={index} className={styles.separator} />
            ) : (
              <DropdownMenu.Item
                key={item.label}
                className={`${styles.item} ${item.isDanger === true ? styles.danger : ''}`}
                disabled={item.isDisabled === true}
                {...(item.isChosen === undefined ? {} : { role: 'menuitemradio', 'aria-checked': item.isChosen })}
                onSelect={item.onSelect}
              >
                {item.icon}
                {item.label}
                {item.isChosen === true ? <Check size={16} aria-hidden className={styles.check} /> : null}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
