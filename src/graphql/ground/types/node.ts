import { requireScope } from '../../../domain/ground/access/policy.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';
import { findNodeLoader, loadNode, mayLoad, type Thing } from '../builder/nodes.ts';

/** `nodes` takes at most so many ids. */
const idsMax = 100;

export const NodeType = builder.interfaceRef<Thing>('Node').implement({
  access: { scope: null },
  description: 'Anything that has an id of its own and can be fetched by it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A unique id. Its prefix names the kind of thing; the rest is opaque.' }),
  }),
  resolveType: (thing) => {
    const { typeName } = findNodeLoader(thing.id) ?? {};
    return typeof typeName === 'function' ? typeName(thing) : typeName;
  },
});

builder.queryFields((t) => ({
  node: t.field({
    authScopes: { anyKey: true },
    type: NodeType,
    nullable: true,
    description: 'Anything by its id. Null when there is no such thing or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id as Parley gave it.' }) },
    resolve: (_root, { id }, context) => findNode(context, id),
  }),
  nodes: t.field({
    authScopes: { anyKey: true },
    type: t.listRef(NodeType, { nullable: true }),
    description: `Things by their ids, at most ${idsMax}, in the order of the ids: null for each that does not exist or that the caller may not see.`,
    args: { ids: t.arg.idList({ description: 'The ids as Parley gave them.' }) },
    resolve: (_root, { ids }, context) => {
      if (ids.length > idsMax) throw new DomainError('INVALID_VALUE', `ids must be at most ${idsMax}`, { param: 'ids' });
      return Promise.all(ids.map((id) => findNode(context, id)));
    },
  }),
}));

/** @throws DomainError INSUFFICIENT_SCOPE for a kind of thing that the key may not read. */
function findNode(context: GraphContext, id: string): Promise<Thing> | null {
  const loader = findNodeLoader(id);
  if (loader === undefined) return null;
  if (!mayLoad(context, loader)) requireScope(context.caller, loader.operation);
  return loadNode(context, loader.kind, id);
}
