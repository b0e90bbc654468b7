import files from '../../../parts/files/files.module.css';
import { FileLink, MessageImage } from '../../../parts/files/links.tsx';
import { useText } from '../../../text/text.ts';
import type { Chat_MessageFragment } from '../documents.ts';
import styles from './transcript.module.css';

/** The files and images of a message. */
export function Files({ parts }: { readonly parts: Chat_MessageFragment['parts'] }) {
  const { t } = useText();
  const fileParts = parts.filter(({ __typename }) => __typename !== 'TextPart');
  if (fileParts.length === 0) return null;
  return (
    <ul className={styles.files}>
      {fileParts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message do not move
        <li key={index}>
          {part.__typename === 'ImagePart' ? <MessageImage url={part.url} /> : null}
          {part.__typename === 'FilePart' && part.file === null ? (
            <span className={files.file}>{t('A deleted file')}</span>
          ) : null}
          {part.__typename === 'FilePart' && part.file !== null ? <FileLink file={part.file} /> : null}
        </li>
      ))}
    </ul>
  );
}
