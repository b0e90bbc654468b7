import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, Observable } from '@apollo/client';
import { OperationTypeNode, print } from 'graphql';
import { AgentListSubscriptionDocument, SidebarQueryDocument } from './__generated__/codegen/graphql.ts';
import { headers, show, showChange, stream, url } from './connection.ts';

// Documents and types by graphql-codegen.
const live = new ApolloLink(
  ({ query, variables }) => new Observable((sink) => stream.subscribe({ query: print(query), variables }, sink)),
);
const client = new ApolloClient({
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    live,
    new HttpLink({ uri: url, headers }),
  ),
  cache: new InMemoryCache(),
});

const { data } = await client.query({ query: SidebarQueryDocument });
show('apollo', data?.viewer.user.name, data?.agents.nodes ?? []);
client.subscribe({ query: AgentListSubscriptionDocument }).subscribe(({ data: event }) => {
  if (event) showChange('apollo', { kind: event.agentsChanged.kind, name: event.agentsChanged.node?.name });
});
