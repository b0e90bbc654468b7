import { useMemo } from 'react';
import { type Connection, type MorePages, useMorePages } from '../../graphql/hooks.ts';

interface Entry {
  readonly entryId: string;
}

/** Further pages of a list whose items are of another service, and have its ids. */
export function useFurther<Node extends Entry>(
  first: Connection<Node> | undefined,
  load: (after: string) => Promise<Connection<Node> | undefined>,
): MorePages<Node & { readonly id: string }> {
  const withIds = useMemo(() => (first === undefined ? undefined : identified(first)), [first]);
  return useMorePages(withIds, async (after) => {
    const page = await load(after);
    return page === undefined ? undefined : identified(page);
  });
}

function identified<Node extends Entry>(page: Connection<Node>): Connection<Node & { readonly id: string }> {
  return { ...page, nodes: page.nodes.map((node) => ({ ...node, id: node.entryId })) };
}
