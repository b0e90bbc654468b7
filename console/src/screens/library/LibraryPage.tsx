import type { ReactNode } from 'react';
import { useText } from '../../text/text.ts';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';

/** A part of the screen, and the way to the other parts. */
export function LibraryPage({
  current,
  title,
  lead,
  actions,
  children,
}: {
  readonly current: string;
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  const tabs = [
    { href: '/library', label: t('Chats') },
    { href: '/library/archive', label: t('Archive') },
    { href: '/library/bin', label: t('Bin') },
    { href: '/projects', label: t('Projects') },
  ];
  return (
    <Page title={title} lead={lead} actions={actions}>
      <TabLinks label={t('Parts of this screen')} tabs={tabs} current={current} />
      {children}
    </Page>
  );
}
