import { Paperclip } from 'lucide-react';
import files from '../../../parts/files/files.module.css';
import styles from './transcript.module.css';

/** A message that is on its way. */
export function PendingRow({ text, filenames }: { readonly text: string; readonly filenames: readonly string[] }) {
  return (
    <div className={styles.user} data-pending>
      <div className={styles.bubble} dir="auto">
        {filenames.map((name) => (
          <span key={name} className={files.file}>
            <Paperclip size={14} aria-hidden /> {name}
          </span>
        ))}
        {text}
      </div>
    </div>
  );
}
