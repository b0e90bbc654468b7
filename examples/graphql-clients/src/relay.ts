import {
  Environment,
  fetchQuery,
  type GraphQLTaggedNode,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime';
import agentListSubscription, { type AgentListSubscription } from './__generated__/relay/AgentListSubscription.graphql.ts';
import sidebarQuery, { type SidebarQuery } from './__generated__/relay/SidebarQuery.graphql.ts';
import { headers, show, showChange, stream, url } from './connection.ts';

// Documents and types by relay-compiler. A bundler with its plugin takes graphql`…` tags; without one, the compiled documents are imported.
const environment = new Environment({
  store: new Store(new RecordSource()),
  network: Network.create(
    async ({ text }, variables) => {
      const body = JSON.stringify({ query: text, variables });
      const reply = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
      return (await reply.json()) as never;
    },
    ({ text }, variables) => Observable.create((sink) => stream.subscribe({ query: text ?? '', variables }, sink as never)),
  ),
});

const data = await fetchQuery<SidebarQuery>(environment, sidebarQuery as unknown as GraphQLTaggedNode, {}).toPromise();
show('relay', data?.viewer.user.name, data?.agents.nodes ?? []);
requestSubscription<AgentListSubscription>(environment, {
  subscription: agentListSubscription as unknown as GraphQLTaggedNode,
  variables: {},
  onNext: (event) => {
    if (event) showChange('relay', { kind: event.agentsChanged.kind, name: event.agentsChanged.node?.name });
  },
});
