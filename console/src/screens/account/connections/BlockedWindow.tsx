import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';

/** A link in place of a window that the browser did not open. */
export function BlockedWindow({ url }: { readonly url: string }) {
  const { t } = useText();
  return (
    <Note tone="warn">
      {t('The browser blocked the window.')}{' '}
      <a href={url} target="_blank" rel="noopener noreferrer">
        {t('Open it')}
      </a>
    </Note>
  );
}
