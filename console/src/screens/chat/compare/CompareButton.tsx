import { Columns2, X } from 'lucide-react';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import { useText } from '../../../text/text.ts';
import { IconButton } from '../../../ui/form/button.tsx';
import { CompareDialog } from './CompareDialog.tsx';
import type { CompareChoice } from './choices.ts';
import styles from './compare.module.css';

/** Beside the box: whether others answer the next messages too, and who. */
export function CompareButton({
  models,
  own,
  choices,
  onChoose,
}: {
  readonly models: readonly string[];
  readonly own: { readonly agentId: string | undefined; readonly modelId: string | undefined };
  readonly choices: readonly CompareChoice[];
  readonly onChoose: (choices: readonly CompareChoice[]) => void;
}) {
  const { t } = useText();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton label={t('Compare with…')} isActive={choices.length > 0} onClick={() => setOpen(true)}>
        <Columns2 size={18} aria-hidden />
      </IconButton>
      {choices.length === 0 ? null : (
        <ul className={styles.chips} aria-label={t('Compared with')}>
          {choices.map((choice) => (
            <li key={choice.id}>
              <span>{choice.name}</span>
              <IconButton
                label={t('No longer compare with {name}', { name: choice.name })}
                onClick={() => onChoose(choices.filter(({ id }) => id !== choice.id))}
              >
                <X size={14} aria-hidden />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
      {/* The box is a form, and no form stands in another one. */}
      {isOpen
        ? createPortal(
            <CompareDialog
              models={models}
              own={own}
              chosen={choices}
              action={t('Apply')}
              onClose={() => setOpen(false)}
              onChoose={(next) => {
                setOpen(false);
                onChoose(next);
              }}
            />,
            document.body,
          )
        : null}
    </>
  );
}
