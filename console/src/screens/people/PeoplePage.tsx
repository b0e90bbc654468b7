import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../../app/session.tsx';
import { useText } from '../../text/text.ts';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';

/** A part of the screen: its title, and the way to the other parts that the reader may see. */
export function PeoplePage({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const { t } = useText();
  const { may } = useSession();
  const [path] = useLocation();
  const isReader = may('ADMIN_READ');
  const tabs = [
    ...(isReader
      ? [
          { href: '/people', label: t('Members') },
          { href: '/people/invitations', label: t('Invitations') },
        ]
      : []),
    { href: '/people/groups', label: t('Groups') },
  ];
  const current = tabs.findLast(({ href }) => path === href || path.startsWith(`${href}/`))?.href ?? '/people';
  return (
    <Page title={title} lead={lead} actions={actions}>
      <TabLinks label={t('Parts of this screen')} tabs={tabs} current={current} />
      {children}
    </Page>
  );
}
