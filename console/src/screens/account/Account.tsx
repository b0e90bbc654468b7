import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { NotAllowed } from '../../parts/people/PeoplePage.tsx';
import { useSession } from '../../parts/session/session.tsx';
import { Connections } from './connections/Connections.tsx';
import { Imports } from './imports/Imports.tsx';
import { Keys } from './keys/Keys.tsx';
import { Memories } from './memories/Memories.tsx';
import { Profile } from './profile/Profile.tsx';
import { Prompts } from './prompts/Prompts.tsx';
import { Schedules } from './schedules/Schedules.tsx';
import { Shares } from './shares/Shares.tsx';

/** What each person has: the account, keys, connections, memories and schedules. Administrators see those of all under Administration. */
export function Account() {
  const { may } = useSession();
  const isReader = may('ADMIN_READ');
  return (
    <Switch>
      <Route path="/account">
        <Profile />
      </Route>
      <Route path="/account/imports">
        <Imports />
      </Route>
      <Route path="/account/prompts">
        <Prompts />
      </Route>
      <Route path="/account/keys">
        <Keys isOfAll={false} />
      </Route>
      <Route path="/account/connections">
        <Connections isOfAll={false} />
      </Route>
      <Route path="/account/memories">
        <Memories />
      </Route>
      <Route path="/account/shares">
        <Shares />
      </Route>
      <Route path="/account/schedules">
        <Schedules isOfAll={false} />
      </Route>
      <Route path="/administration/keys">{isReader ? <Keys isOfAll /> : <NotAllowed />}</Route>
      <Route path="/administration/connections">{isReader ? <Connections isOfAll /> : <NotAllowed />}</Route>
      <Route path="/administration/schedules">{isReader ? <Schedules isOfAll /> : <NotAllowed />}</Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
