import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { AgentEditor } from './editor/AgentEditor.tsx';
import { AgentList } from './list/AgentList.tsx';

/** Agents: the list at `/agents`, and each with its sections at `/agents/<id>/<section>`. */
export function Agents() {
  return (
    <Switch>
      <Route path="/agents">
        <AgentList />
      </Route>
      <Route path="/agents/:id/:section?">{({ id, section }) => <AgentEditor key={id} id={id} section={section} />}</Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
