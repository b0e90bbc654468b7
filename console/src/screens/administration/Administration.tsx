import { Redirect, Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { NotAllowed } from '../../parts/people/PeoplePage.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { AuditLog } from './audit/AuditLog.tsx';
import { Budgets } from './budgets/Budgets.tsx';
import { Data } from './data-life/Data.tsx';
import { GroupPage } from './groups/GroupPage.tsx';
import { Groups } from './groups/Groups.tsx';
import { OrganizationGuard } from './guard/OrganizationGuard.tsx';
import { McpClients } from './mcp-clients/McpClients.tsx';
import { Invitations } from './members/Invitations.tsx';
import { Members } from './members/Members.tsx';
import { PersonPage } from './person/PersonPage.tsx';
import { SavedDocuments } from './saved-documents/SavedDocuments.tsx';
import { Webhooks } from './webhooks/Webhooks.tsx';

/** What administrators answer for: members, groups, the audit log, and what the organization keeps. */
export function Administration() {
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
      <Route path="/administration">
        <Redirect to={`/administration/${isReader ? 'keys' : 'installation'}`} replace />
      </Route>
      <Route path="/administration/audit">{isReader ? <AuditLog /> : <NotAllowed />}</Route>
      <Route path="/administration/data">{isReader ? <Data /> : <NotAllowed />}</Route>
      <Route path="/administration/budgets">{isReader ? <Budgets /> : <NotAllowed />}</Route>
      <Route path="/administration/guard">{isReader ? <OrganizationGuard /> : <NotAllowed />}</Route>
      <Route path="/administration/documents">{isReader ? <SavedDocuments /> : <NotAllowed />}</Route>
      <Route path="/administration/mcp-clients">{isReader ? <McpClients /> : <NotAllowed />}</Route>
      <Route path="/administration/webhooks">{isReader ? <Webhooks /> : <NotAllowed />}</Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
