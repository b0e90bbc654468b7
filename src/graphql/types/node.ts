import { requireScope } from '../../domain/access/policy.ts';
import { DomainError } from '../../entities/errors.ts';
import { type IdKind, kindOfId } from '../../entities/ids.ts';
import { builder } from '../builder/builder.ts';
import type { GraphContext } from '../builder/context.ts';

interface Loader {
  readonly typeName: string;
  /** The root field that reads such a thing: `node` needs the same scope. */
  readonly operation: `Query.${string}`;
  load(id: string, context: GraphContext): Promise<{ readonly id: string } | null>;
}
const loaders = new Map<IdKind, Loader>();

/**
 * Lets `node(id)` find the things of one kind. Called once, next to the type:
 *
 *     registerNode('agent', { typeName: 'Agent', operation: 'Query.agent', load: (id, { deps, caller }) => getAgent(deps, caller, id) });
 *
 * `load` is the domain's own function: a DomainError NOT_FOUND becomes null. The type names the interface: `interfaces: [NodeType]`.
 */
export function registerNode(kind: IdKind, loader: Loader): void {
  loaders.set(kind, loader);
}

export const NodeType = builder.interfaceRef<{ readonly id: string }>('Node').implement({
  access: { scope: null },
  description: 'Anything that has an id of its own and can be fetched by it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'A unique id. Its prefix names the kind of thing; the rest is opaque.' }),
  }),
  resolveType: ({ id }) => {
    const kind = kindOfId(id);
    return kind === undefined ? undefined : loaders.get(kind)?.typeName;
  },
});

builder.queryField('node', (t) =>
  t.field({
    authScopes: { anyKey: true },
    type: NodeType,
    nullable: true,
    description: 'Anything by its id. Null when there is no such thing or the caller may not see it.',
    args: { id: t.arg.id({ description: 'The id as Parley gave it.' }) },
    resolve: async (_root, { id }, context) => {
      const kind = kindOfId(id);
      const loader = kind === undefined ? undefined : loaders.get(kind);
      if (loader === undefined) return null;
      requireScope(context.caller, loader.operation);
      return loader.load(id, context).catch(nullWhenMissing);
    },
  }),
);

function nullWhenMissing(error: unknown): null {
  if (error instanceof DomainError && error.code === 'NOT_FOUND') return null;
  throw error;
}
