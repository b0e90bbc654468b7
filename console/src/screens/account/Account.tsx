import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { Connections } from './connections/Connections.tsx';
import { Imports } from './imports/Imports.tsx';
import { Keys } from './keys/Keys.tsx';
import { Memories } from './memories/Memories.tsx';
import { Profile } from './profile/Profile.tsx';
import { Schedules } from './schedules/Schedules.tsx';
import { Shares } from './shares/Shares.tsx';

/** What each person has: the account, keys, connections, memories and schedules. Administrators see those of others here too. */
export function Account() {
  return (
    <Switch>
      <Route path="/account">
        <Profile />
      </Route>
      <Route path="/account/imports">
        <Imports />
      </Route>
      <Route path="/keys">
        <Keys />
      </Route>
      <Route path="/connections">
        <Connections />
      </Route>
      <Route path="/memories">
        <Memories />
      </Route>
      <Route path="/shares">
        <Shares />
      </Route>
      <Route path="/data/schedules">
        <Schedules />
      </Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
