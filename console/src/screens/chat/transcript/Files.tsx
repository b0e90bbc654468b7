import { FileText } from 'lucide-react';
import { useText } from '../../../text/text.ts';
import { formatBytes } from '../../../ui/small.tsx';
import type { Chat_MessageFragment } from '../documents.ts';
import styles from './transcript.module.css';

/** The files and images of a message: images of this origin are shown, all others are links. */
export function Files({ parts }: { readonly parts: Chat_MessageFragment['parts'] }) {
  const { t, number } = useText();
  const fileParts = parts.filter(({ __typename }) => __typename !== 'TextPart');
  if (fileParts.length === 0) return null;
  return (
    <ul className={styles.files}>
      {fileParts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a message do not move
        <li key={index}>
          {part.__typename === 'ImagePart' ? <OneImage url={part.url} /> : null}
          {part.__typename === 'FilePart' && part.file === null ? (
            <span className={styles.file}>{t('A deleted file')}</span>
          ) : null}
          {part.__typename === 'FilePart' && part.file !== null ? (
            <a className={styles.file} href={ownPath(part.file.url)} target="_blank" rel="noopener noreferrer">
              {isPicture(part.file.mimeType) ? (
                <img src={ownPath(part.file.url)} alt={part.file.filename} loading="lazy" />
              ) : (
                <FileText size={16} aria-hidden />
              )}
              <span>{part.file.filename}</span>
              <small>{formatBytes(part.file.size, number)}</small>
            </a>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

const isPicture = (mimeType: string) => ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].includes(mimeType);

function OneImage({ url }: { readonly url: string }) {
  const { t } = useText();
  if (url.startsWith('data:image/') || new URL(url, location.origin).origin === location.origin) {
    return <img src={url} alt={t('Image')} loading="lazy" className={styles.picture} />;
  }
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className={styles.file}>
      {new URL(url).host}
    </a>
  );
}

/** The service writes its public address, which may be another than the one that the browser reached it by. */
function ownPath(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  return pathname + search;
}
