import { Redirect, Route, Switch } from 'wouter';
import { useSession } from '../../parts/session/session.tsx';
import { useText } from '../../text/text.ts';
import { EmptyState } from '../../ui/feedback.tsx';
import { Account } from './account/Account.tsx';
import { AuditLog } from './audit/AuditLog.tsx';
import { Connections } from './connections/Connections.tsx';
import { Data } from './data-life/Data.tsx';
import { GroupPage } from './groups/GroupPage.tsx';
import { Groups } from './groups/Groups.tsx';
import { Keys } from './keys/Keys.tsx';
import { Invitations } from './members/Invitations.tsx';
import { Members } from './members/Members.tsx';
import { Memories } from './memories/Memories.tsx';
import { PeoplePage } from './PeoplePage.tsx';
import { PersonPage } from './person/PersonPage.tsx';
import { Schedules } from './schedules/Schedules.tsx';
import { Webhooks } from './webhooks/Webhooks.tsx';

/** Everything about people: members, groups, what each has, and what the organization keeps. */
export function People() {
  const { may } = useSession();
  const isReader = may('ADMIN_READ');
  return (
    <Switch>
      <Route path="/people">{isReader ? <Members /> : <Redirect to="/people/groups" replace />}</Route>
      <Route path="/people/invitations">{isReader ? <Invitations /> : <NotAllowed />}</Route>
      <Route path="/people/groups">
        <Groups />
      </Route>
      <Route path="/people/groups/:id">{({ id }) => <GroupPage key={id} id={id} />}</Route>
      <Route path="/people/:id">{({ id }) => (isReader ? <PersonPage key={id} id={id} /> : <NotAllowed />)}</Route>
      <Route path="/keys">
        <Keys />
      </Route>
      <Route path="/audit">{isReader ? <AuditLog /> : <NotAllowed />}</Route>
      <Route path="/data">{isReader ? <Data /> : <NotAllowed />}</Route>
      <Route path="/data/webhooks">{isReader ? <Webhooks /> : <NotAllowed />}</Route>
      <Route path="/data/schedules">
        <Schedules />
      </Route>
      <Route path="/account">
        <Account />
      </Route>
      <Route path="/memories">
        <Memories />
      </Route>
      <Route path="/connections">
        <Connections />
      </Route>
      <Route>
        <NotAllowed />
      </Route>
    </Switch>
  );
}

function NotAllowed() {
  const { t } = useText();
  return (
    <PeoplePage title={t('People')}>
      <EmptyState title={t('Only administrators see this')}>
        {t('Ask an administrator of your organization if you need it.')}
      </EmptyState>
    </PeoplePage>
  );
}
