import { useState } from 'react';
import { useText } from '../../text/text.ts';
import { Button } from '../../ui/form/button.tsx';
import { copyText } from '../../ui/small.tsx';
import styles from './about.module.css';

const shownMs = 3_000;

/** A request to copy. `onCopied` is told for how long the copy is news. */
export function Example({
  id,
  title,
  copyLabel,
  text,
  onCopied,
}: {
  readonly id: string;
  readonly title: string;
  readonly copyLabel: string;
  readonly text: string;
  readonly onCopied: (isCopied: boolean) => void;
}) {
  const { t } = useText();
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  const copy = async () => {
    try {
      await copyText(text);
      setOutcome('copied');
      onCopied(true);
    } catch {
      setOutcome('failed');
    }
    setTimeout(() => {
      setOutcome(undefined);
      onCopied(false);
    }, shownMs);
  };
  const words = { copied: t('Copied'), failed: t('Select and copy it') };
  return (
    <figure className={styles.example}>
      <figcaption>
        <span>{title}</span>
        <Button size="small" data-copy={id} aria-label={copyLabel} onClick={() => void copy()}>
          {outcome === undefined ? t('Copy') : words[outcome]}
        </Button>
      </figcaption>
      <pre id={id}>{text}</pre>
    </figure>
  );
}
