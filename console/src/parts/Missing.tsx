import { Link } from 'wouter';
import { useText } from '../text/text.ts';
import { EmptyState } from '../ui/feedback.tsx';
import { useTitle } from '../ui/page.tsx';

/** In place of a screen, at an address that none has. */
export function Missing() {
  const { t } = useText();
  const title = t('There is nothing at this address');
  useTitle(title);
  return (
    <EmptyState isScreen title={title} action={<Link href="/">{t('To the chats')}</Link>}>
      {t('The address may be mistyped, or what was here is deleted.')}
    </EmptyState>
  );
}
