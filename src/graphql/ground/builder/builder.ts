import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import { isDirectory } from '../../../domain/ground/access/access.ts';
import { insufficientScope } from '../../../domain/ground/access/policy.ts';
import type { UploadedFile } from '../../../entities/conversations/chats/uploaded-file.ts';
import { fieldComplexity } from './complexity.ts';
import './operation.ts';
import './reply-budget.ts';
import type { GraphContext } from './context.ts';
import { type AuthScopes, findScope } from './scopes.ts';

export type { UploadedFile };

export interface SchemaTypes {
  Context: GraphContext;
  AuthScopes: AuthScopes;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: true;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    Count: { Input: number; Output: number };
    Vector: { Input: never; Output: readonly number[] };
    JSON: { Input: unknown; Output: unknown };
    PlainValue: { Input: unknown; Output: unknown };
    JsonObject: { Input: unknown; Output: unknown };
    JsonSchema: { Input: unknown; Output: unknown };
    File: { Input: UploadedFile; Output: never };
  };
}

/**
 * The schema's builder; it defines no type. Every root field says in `authScopes` which scope the key of a call needs (`key`), or that any key
 * but that of an identity provider will do (`anyKey`); schema.ts refuses to build when one does not. domain/ground/access/operation-scopes.ts is printed from them.
 *
 * A relation of listed things is loadable, never resolved one by one, so that a list of 50 costs one query for each relation. The loader belongs to
 * the request and gets its context; it calls a domain function with the caller, and returns results in the order of the ids.
 *
 *     groups: t.loadableList({
 *       type: GroupType,
 *       description: 'Groups that may use the agent, as far as the caller may see them.',
 *       resolve: (agent) => agent.id,
 *       load: (agentIds: string[], { deps, caller }) => groupsOfAgents(deps, caller, agentIds),
 *     }),
 */
export const builder = new SchemaBuilder<SchemaTypes>({
  // The first wraps the others.
  plugins: [
    'flatInputs',
    'refusals',
    'scopeCaches',
    ScopeAuthPlugin,
    'operations',
    ComplexityPlugin,
    DataloaderPlugin,
    'replyBudget',
  ],
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ caller }) => ({ key: (scope) => caller.scopes.has(scope), anyKey: !isDirectory(caller) }),
    unauthorizedError: (_parent, _context, { parentType, fieldName }) => {
      const field = parentType.getFields()[fieldName];
      return insufficientScope(fieldName, field === undefined ? undefined : findScope(field));
    },
  },
  // Checked by graphql/server/operations.ts, before the first resolver runs.
  complexity: { disabled: true, fieldComplexity: fieldComplexity as never },
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
});

/** The types of the schema, for functions that make fields. */
export type BuilderTypes = typeof builder.$inferSchemaTypes;
/** What the members of an input are made with. */
export type InputBuilder = Parameters<NonNullable<Parameters<typeof builder.inputType>[1]['fields']>>[0];
