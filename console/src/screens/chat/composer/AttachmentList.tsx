import { FileText, X } from 'lucide-react';
import { useText } from '../../../text/text.ts';
import { IconButton } from '../../../ui/form/button.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { Progress } from '../../../ui/progress.tsx';
import { formatBytes } from '../../../ui/small.tsx';
import type { Attachments } from './attachments.ts';
import styles from './composer.module.css';

/** The files that go with the next message, and how far they are. */
export function AttachmentList({ attachments: { items, remove } }: { readonly attachments: Attachments }) {
  const { t, number } = useText();
  const { describeError } = useFaultWords();
  if (items.length === 0) return null;
  return (
    <ul className={styles.files} aria-label={t('Files of the message')}>
      {items.map(({ id, file, percent, stored, error }) => (
        <li key={id} className={styles.file} data-failed={error !== undefined || undefined}>
          <FileText size={16} aria-hidden />
          <div>
            <span>{file.name}</span>
            {error === undefined ? (
              <small>{formatBytes(file.size, number)}</small>
            ) : (
              <small role="alert">{describeError(error).join(' ')}</small>
            )}
            {percent !== undefined && stored === undefined ? <Progress percent={percent} label={file.name} /> : null}
          </div>
          <IconButton label={t('Remove {name}', { name: file.name })} onClick={() => remove(id)}>
            <X size={15} aria-hidden />
          </IconButton>
        </li>
      ))}
    </ul>
  );
}
