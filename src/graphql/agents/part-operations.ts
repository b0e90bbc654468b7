import type { InputRef } from '@pothos/core';
import type { PartOperations } from '../../domain/agents/parts/operations.ts';
import type { AgentPart } from '../../entities/agents/part.ts';
import type { IdKind } from '../../entities/ground/ids.ts';
import type { Scope } from '../../entities/people/caller.ts';
import { type BuilderTypes, builder } from '../ground/builder/builder.ts';
import { loadNode, registerNode } from '../ground/builder/nodes.ts';
import type { ArgBuilder } from '../ground/pagination.ts';
import { AgentRef } from '../ground/refs.ts';
import { expectedDraftArg } from './versions/args.ts';

/** What the operations of one kind of parts are called, take and give. The functions of the domain check access. */
interface PartKind<Part extends AgentPart, New, Changes> {
  readonly type: PothosSchemaTypes.ObjectRef<BuilderTypes, Part>;
  readonly idKind: IdKind & `agent${string}`;
  readonly operations: PartOperations<Part, New, Changes>;
  readonly scopes: { readonly read: Scope; readonly write: Scope };
  /** The names of the query of one and of the list, and the noun in mutations: `createAgentTool`. */
  readonly names: { readonly one: string; readonly list: string; readonly mutation: string };
  /** In descriptions: `the id of the user input`. */
  readonly noun: string;
  readonly inputs: {
    readonly create: InputRef<New>;
    readonly update: InputRef<Changes>;
  };
  readonly descriptions: Readonly<Record<'list' | 'one' | 'create' | 'newInput' | 'update' | 'delete', string>>;
}

/** The members that every part has. */
export function partFields(t: PothosSchemaTypes.ObjectFieldBuilder<BuilderTypes, AgentPart>, noun: string) {
  return {
    id: t.exposeID('id', { description: `The id of the ${noun}.` }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    agentId: t.exposeID('agentId', { description: 'The agent it belongs to.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context) => loadNode(context, 'agent', agentId),
    }),
  };
}

/** Adds the two queries and three mutations of one kind of parts, and lets `node` find them. */
export function addPartOperations<Part extends AgentPart, New extends object, Changes extends object>(
  kind: PartKind<Part, New, Changes>,
): void;
export function addPartOperations(kind: PartKind<AgentPart, object, object>): void {
  const { type, operations, names, descriptions } = kind;
  const read = { authScopes: { key: kind.scopes.read } } as const;
  const write = { authScopes: { key: kind.scopes.write }, type } as const;
  const agentId = (arg: ArgBuilder) => arg.id({ description: 'The id of the agent.' });
  // Paths of REST name the agent too, and a part of another agent is not there.
  const placeArgs = (arg: ArgBuilder) => ({
    id: arg.id({ description: `The id of the ${kind.noun}.` }),
    agentId: arg.id({ required: false, description: 'The id of the agent that the part must be of. Default: any.' }),
  });

  registerNode(kind.idKind, {
    typeName: `A${kind.idKind.slice(1)}`,
    operation: `Query.${names.one}`,
    loadMany: (ids, { deps, caller }) => operations.getMany(deps, caller, ids),
  });
  builder.queryFields((t) => ({
    [names.list]: t.field({
      ...read,
      type: [type],
      description: descriptions.list,
      args: { agentId: agentId(t.arg) },
      resolve: (_root, args, { deps, caller }) => operations.list(deps, caller, args.agentId),
    }),
    [names.one]: t.field({
      ...read,
      type,
      nullable: true,
      description: descriptions.one,
      args: placeArgs(t.arg),
      resolve: (_root, place, { deps, caller }) => operations.get(deps, caller, place),
    }),
  }));
  builder.mutationFields((t) => ({
    [`create${names.mutation}`]: t.field({
      ...write,
      description: descriptions.create,
      args: {
        agentId: agentId(t.arg),
        input: t.arg({ type: kind.inputs.create, description: descriptions.newInput }),
        expectedDraft: expectedDraftArg(t.arg),
      },
      resolve: (_root, args, { deps, caller }) => operations.create(deps, caller, args.agentId, args.input, args.expectedDraft),
    }),
    [`update${names.mutation}`]: t.field({
      ...write,
      description: descriptions.update,
      args: {
        ...placeArgs(t.arg),
        input: t.arg({ type: kind.inputs.update, description: 'The members to change.' }),
        expectedDraft: expectedDraftArg(t.arg),
      },
      resolve: (_root, { input, expectedDraft, ...place }, { deps, caller }) =>
        operations.update(deps, caller, place, input, expectedDraft),
    }),
    [`delete${names.mutation}`]: t.field({
      ...write,
      description: descriptions.delete,
      args: { ...placeArgs(t.arg), expectedDraft: expectedDraftArg(t.arg) },
      resolve: (_root, { expectedDraft, ...place }, { deps, caller }) => operations.delete(deps, caller, place, expectedDraft),
    }),
  }));
}
