import type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada';
import { print } from 'graphql';
import { agentListSubscription } from './__generated__/tada/AgentList.ts';
import { sidebarQuery } from './__generated__/tada/Sidebar.ts';
import { headers, show, showChange, stream, url } from './connection.ts';

// No generated types: gql.tada infers them from the text of a document. This is a whole client.
async function ask<Document extends TadaDocumentNode<unknown, Record<string, unknown>>>(
  document: Document,
  variables: VariablesOf<Document>,
): Promise<ResultOf<Document>> {
  const body = JSON.stringify({ query: print(document), variables });
  const reply = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
  const { data, errors } = await reply.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

const data = await ask(sidebarQuery, {});
show('tada', data.viewer.user.name, data.agents.nodes);
for await (const { data: event } of stream.iterate<ResultOf<typeof agentListSubscription>>({
  query: print(agentListSubscription),
})) {
  if (event) showChange('tada', { kind: event.agentsChanged.kind, name: event.agentsChanged.node?.name });
}
