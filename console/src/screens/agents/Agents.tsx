import { Route, Switch } from 'wouter';
import { Missing } from '../../parts/Missing.tsx';
import { AgentEditor } from './editor/AgentEditor.tsx';
import { AgentList } from './list/AgentList.tsx';

/** Sections with pages of their own. */
const divided = new Set(['versions', 'evaluation']);

/** Agents: the list at `/agents`, and each with its sections at `/agents/<id>/<section>`; of the versions, one at `…/versions/4` and a comparison at `…/versions/3...draft`. */
export function Agents() {
  return (
    <Switch>
      <Route path="/agents">
        <AgentList />
      </Route>
      <Route path="/agents/:id/*?">
        {({ id, '*': place = '' }) => {
          const [section = '', part, ...more] = place.split('/');
          if (more.length > 0 || (part !== undefined && !divided.has(section))) return <Missing />;
          return <AgentEditor key={id} id={id} section={section === '' ? undefined : section} part={part} />;
        }}
      </Route>
      <Route>
        <Missing />
      </Route>
    </Switch>
  );
}
