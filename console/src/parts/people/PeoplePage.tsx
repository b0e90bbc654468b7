import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useText } from '../../text/text.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { useSession } from '../session/session.tsx';

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
  const tabs = useTabs();
  const [path] = useLocation();
  const current = tabs.findLast(({ href }) => path === href || path.startsWith(`${href}/`))?.href ?? '';
  return (
    <Page title={title} lead={lead} actions={actions}>
      <PartLinks tabs={tabs} current={current} />
      {children}
    </Page>
  );
}

function PartLinks({ tabs, current }: { readonly tabs: ReturnType<typeof useTabs>; readonly current: string }) {
  const { t } = useText();
  return <TabLinks label={t('Parts of this screen')} tabs={tabs} current={current} />;
}

/** The parts that the reader may see. */
function useTabs(): readonly { readonly href: string; readonly label: string }[] {
  const { t } = useText();
  const { may } = useSession();
  const isReader = may('ADMIN_READ');
  const tabs = [
    { href: '/people', label: t('Members'), isShown: isReader },
    { href: '/people/invitations', label: t('Invitations'), isShown: isReader },
    { href: '/people/groups', label: t('Groups'), isShown: may('GROUPS_READ') },
    { href: '/keys', label: t('Keys'), isShown: may('API_KEYS_READ') },
    { href: '/connections', label: t('Connections'), isShown: may('CONNECTIONS_READ') },
    { href: '/memories', label: t('Memories'), isShown: may('CHATS_READ') },
    { href: '/shares', label: t('Shared chats'), isShown: may('CHATS_READ') },
    { href: '/audit', label: t('Audit log'), isShown: isReader },
    { href: '/data', label: t('Data'), isShown: isReader },
    { href: '/data/schedules', label: t('Schedules'), isShown: may('CHATS_READ') },
    { href: '/data/webhooks', label: t('Webhooks'), isShown: isReader },
    { href: '/account', label: t('Account'), isShown: true },
  ];
  return tabs.filter(({ isShown }) => isShown);
}

/** In place of a part that only administrators see. */
export function NotAllowed() {
  const { t } = useText();
  return (
    <PeoplePage title={t('People')}>
      <EmptyState title={t('Only administrators see this')}>
        {t('Ask an administrator of your organization if you need it.')}
      </EmptyState>
    </PeoplePage>
  );
}
