import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { BinScreen } from './chats/BinScreen.tsx';
import { ChatsScreen } from './chats/ChatsScreen.tsx';
import { ProjectPage } from './projects/ProjectPage.tsx';
import { ProjectsScreen } from './projects/ProjectsScreen.tsx';

/** All chats in order: tags, the archive, the bin, and projects. */
export function Library() {
  return (
    <Switch>
      <Route path="/library">
        <ChatsScreen key="listed" archive="WITHOUT" />
      </Route>
      <Route path="/library/archive">
        <ChatsScreen key="archived" archive="ONLY" />
      </Route>
      <Route path="/library/bin">
        <BinScreen />
      </Route>
      <Route path="/projects">
        <ProjectsScreen />
      </Route>
      <Route path="/projects/:id">{({ id }) => <ProjectPage key={id} id={id} />}</Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
