import { FileText } from 'lucide-react';
import { useText } from '../../text/text.ts';
import { formatBytes } from '../../ui/small.tsx';
import styles from './files.module.css';
import { ownPath } from './own-path.ts';

const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** A link to a file of the service, with its picture where it is one. */
export function FileLink({
  file: { url, filename, mimeType, size },
}: {
  readonly file: { readonly url: string; readonly filename: string; readonly mimeType: string; readonly size: number };
}) {
  const { number } = useText();
  return (
    <a className={styles.file} href={ownPath(url)} target="_blank" rel="noopener noreferrer">
      {pictureTypes.includes(mimeType) ? (
        <img src={ownPath(url)} alt={filename} loading="lazy" />
      ) : (
        <FileText size={16} aria-hidden />
      )}
      <span>{filename}</span>
      <small>{formatBytes(size, number)}</small>
    </a>
  );
}

/** An image of a message. One of another origin is not fetched, which would tell it who reads what: it is a link. */
export function MessageImage({ url }: { readonly url: string }) {
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
