import { Link } from 'wouter';
import { useText } from '../../../../text/text.ts';
import type { Chat_PromptFragment } from '../../documents.ts';
import styles from './prompts.module.css';
import type { usePrompts } from './use-prompts.ts';

export const optionId = (listId: string, { id }: Chat_PromptFragment) => `${listId}-${id}`;

/** The prompts over the box, while `/` is typed. The box keeps the focus: arrows choose, Enter takes. */
export function PromptMenu({
  prompts: { listId, isOpen, matches, chosen, choose },
  onTake,
}: {
  readonly prompts: ReturnType<typeof usePrompts>;
  readonly onTake: (prompt: Chat_PromptFragment) => void;
}) {
  const { t } = useText();
  if (!isOpen) return null;
  if (matches.length === 0) {
    return (
      <div className={styles.menu}>
        <p className={styles.nothing}>
          {t('You have no prompts yet.')} <Link href="/account/prompts">{t('Make one')}</Link>
        </p>
      </div>
    );
  }
  return (
    <div id={listId} className={styles.menu} role="listbox" aria-label={t('Prompts')}>
      {matches.map((prompt) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the box, which names the chosen option
        // biome-ignore lint/a11y/useKeyWithClickEvents: the keys of the box choose
        <div
          key={prompt.id}
          id={optionId(listId, prompt)}
          ref={prompt.id === chosen?.id ? showOption : undefined}
          role="option"
          aria-selected={prompt.id === chosen?.id}
          className={styles.option}
          onPointerMove={() => choose(prompt.id)}
          // Before the box loses the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onTake(prompt)}
        >
          <span>/{prompt.command}</span>
          <strong>{prompt.name}</strong>
          <small>{prompt.text.slice(0, 120)}</small>
        </div>
      ))}
    </div>
  );
}

function showOption(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}
