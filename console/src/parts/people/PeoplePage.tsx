import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { useText } from '../../text/text.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { TabLinks } from '../../ui/tabs.tsx';
import { useSession } from '../session/session.tsx';

/** A part of People, of Administration or of the account: its title, and the way to the other parts that the reader may see. */
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
  return tabs.length < 2 ? null : <TabLinks label={t('Parts of this screen')} tabs={tabs} current={current} />;
}

/** The parts of this place that the reader may see: of People, of Administration, or of what is the reader's own. */
function useTabs(): readonly { readonly href: string; readonly label: string }[] {
  const { t } = useText();
  const { may, isOperator } = useSession();
  const [path] = useLocation();
  const isReader = may('ADMIN_READ');
  const people = [
    { href: '/people', label: t('Members'), isShown: isReader },
    { href: '/people/groups', label: t('Groups'), isShown: may('GROUPS_READ') },
    { href: '/people/invitations', label: t('Invitations'), isShown: isReader },
  ];
  const administration = [
    { href: '/administration/keys', label: t('Keys'), isShown: isReader },
    { href: '/administration/audit', label: t('Audit log'), isShown: isReader },
    { href: '/administration/data', label: t('Data'), isShown: isReader },
    { href: '/administration/budgets', label: t('Budgets'), isShown: isReader },
    { href: '/administration/guard', label: t('Guard'), isShown: isReader },
    { href: '/administration/documents', label: t('Saved documents'), isShown: isReader },
    { href: '/administration/mcp-clients', label: t('MCP clients'), isShown: isReader },
    { href: '/administration/webhooks', label: t('Webhooks'), isShown: isReader },
    { href: '/administration/schedules', label: t('Schedules'), isShown: isReader },
    { href: '/administration/connections', label: t('Connections'), isShown: isReader },
    { href: '/administration/installation', label: t('Installation'), isShown: isOperator },
  ];
  const own = [
    { href: '/account', label: t('Account'), isShown: true },
    { href: '/account/keys', label: t('Keys'), isShown: may('API_KEYS_READ') },
    { href: '/account/connections', label: t('Connections'), isShown: may('CONNECTIONS_READ') },
    { href: '/account/memories', label: t('Memories'), isShown: may('CHATS_READ') },
    { href: '/account/shares', label: t('Shared chats'), isShown: may('CHATS_READ') },
    { href: '/account/prompts', label: t('Prompts'), isShown: may('CHATS_READ') },
    { href: '/account/imports', label: t('Import chats'), isShown: may('CHATS_READ') },
    { href: '/account/schedules', label: t('Schedules'), isShown: may('CHATS_READ') },
  ];
  const tabs = path.startsWith('/people') ? people : path.startsWith('/administration') ? administration : own;
  return tabs.filter(({ isShown }) => isShown);
}

/** In place of a part that only administrators see. */
export function NotAllowed() {
  const { t } = useText();
  const [path] = useLocation();
  return (
    <PeoplePage title={path.startsWith('/administration') ? t('Administration') : t('People')}>
      <EmptyState title={t('Only administrators see this')}>
        {t('Ask an administrator of your organization if you need it.')}
      </EmptyState>
    </PeoplePage>
  );
}
