import { documents } from '@parley/client';
import { useQuery } from 'urql';
import { typed } from './client.ts';

const query = typed(documents.AgentsDocument);

/** Tells the name of an agent; its id until the names are loaded, and for an agent that is not among the first hundred. */
export function useAgentNames(): (id: string) => string {
  const [{ data }] = useQuery({ query, variables: { first: 100 } });
  const names = new Map(data?.agents.nodes.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}
