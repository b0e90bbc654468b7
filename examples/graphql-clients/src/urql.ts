import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { AgentListSubscriptionDocument, SidebarQueryDocument } from './__generated__/codegen/graphql.ts';
import { headers, show, showChange, stream, url } from './connection.ts';

// Documents and types by graphql-codegen.
const client = new Client({
  url,
  fetchOptions: { headers },
  exchanges: [
    subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({ unsubscribe: stream.subscribe({ query, variables }, sink) }),
      }),
    }),
    fetchExchange,
  ],
});

const { data, error } = await client.query(SidebarQueryDocument, {});
if (error !== undefined) throw error;
show('urql', data?.viewer.user.name, data?.agents.nodes ?? []);
client.subscription(AgentListSubscriptionDocument, {}).subscribe(({ data: event }) => {
  if (event !== undefined) showChange('urql', { kind: event.agentsChanged.kind, name: event.agentsChanged.node?.name });
});
