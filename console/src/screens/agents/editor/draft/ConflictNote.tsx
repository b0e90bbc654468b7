import { fieldText } from '../../../../parts/drafts/merge.ts';
import { useText } from '../../../../text/text.ts';
import { Note } from '../../../../ui/feedback.tsx';
import { Button } from '../../../../ui/form/button.tsx';
import styles from '../editor.module.css';
import { Lines } from '../versions/Diff.tsx';
import { compareLines } from './compare-lines.ts';

interface Props {
  /** What the field is called beside its control. */
  readonly field: string;
  readonly conflict: { readonly mine: unknown; readonly theirs: unknown; readonly who: readonly string[] };
  /** Whether the values are never shown. */
  readonly isHidden?: boolean;
  readonly onTakeTheirs: () => void;
  readonly onKeepMine: () => void;
}

/** Somebody else changed the same field: the reader sees what differs, and chooses, or writes both into one. */
export function ConflictNote({ field, conflict: { mine, theirs, who }, isHidden = false, onTakeTheirs, onKeepMine }: Props) {
  const { t } = useText();
  return (
    <Note
      tone="warn"
      action={
        <span className={styles.choices}>
          <Button size="small" onClick={onTakeTheirs}>
            {t('Take theirs')}
          </Button>
          <Button size="small" onClick={onKeepMine}>
            {t('Keep mine')}
          </Button>
        </span>
      }
    >
      {who.length === 0
        ? t('Somebody else saved “{field}” while you changed it.', { field })
        : t('{name} saved “{field}” while you changed it.', { name: who.join(', '), field })}
      {isHidden ? null : (
        <details className={styles.difference}>
          <summary>{t('What differs: {field}', { field })}</summary>
          <p>{t('Lines with − are theirs, lines with + are yours. Write into the field what both want, and keep yours.')}</p>
          <Lines lines={compareLines(fieldText(theirs), fieldText(mine))} />
        </details>
      )}
    </Note>
  );
}
