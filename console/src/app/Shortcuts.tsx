import { usePreference } from '../parts/browser/preferences.ts';
import { useText } from '../text/text.ts';
import { Switch } from '../ui/form/field.tsx';
import { Dialog } from '../ui/overlay/dialog.tsx';
import styles from './Shortcuts.module.css';

/** The list of keys. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const { t } = useText();
  const [hasSingleKeys, chooseSingleKeys] = usePreference('singleKeys');
  const command = /mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl';
  const groups = [
    {
      title: t('Everywhere'),
      keys: [
        { keys: [command, 'K'], does: t('Search, or go to a place') },
        { keys: [command, 'Shift', 'O'], does: t('New chat') },
        { keys: hasSingleKeys ? ['?'] : [command, '/'], does: t('This list') },
        { keys: ['Esc'], does: t('Close what is open') },
      ],
    },
    {
      title: t('In the message box'),
      keys: [
        { keys: ['Enter'], does: t('Send the message') },
        { keys: ['Shift', 'Enter'], does: t('A new line') },
        { keys: [command, 'V'], does: t('Add a copied file or picture') },
      ],
    },
    {
      title: t('In lists and menus'),
      keys: [
        { keys: ['↑', '↓'], does: t('Go to the one before or behind') },
        { keys: ['Enter'], does: t('Open it') },
      ],
    },
  ];
  return (
    <Dialog title={t('Keyboard shortcuts')} isOpen onClose={onClose}>
      {groups.map(({ title, keys }) => (
        <section key={title} className={styles.group} aria-label={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(({ keys: pressed, does }) => (
              <div key={does}>
                <dt>{does}</dt>
                <dd>
                  {pressed.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <Switch
        label={t('Single keys work')}
        hint={t('Turn this off where speech or a switch types for you: {keys} opens this list then.', { keys: `${command} /` })}
        isOn={hasSingleKeys}
        onChange={chooseSingleKeys}
      />
    </Dialog>
  );
}
