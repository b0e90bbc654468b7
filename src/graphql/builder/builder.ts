import SchemaBuilder from '@pothos/core';
import ComplexityPlugin from '@pothos/plugin-complexity';
import DataloaderPlugin from '@pothos/plugin-dataloader';
import type { Deps } from '../../domain/deps.ts';
import type { Caller } from '../../entities/accounts/caller.ts';
import type { UploadedFile } from '../../entities/chats/uploaded-file.ts';
import type { ReplyBudget } from '../../http/reply/budget.ts';
import { fieldComplexity } from './complexity.ts';
import './reply-budget.ts';

/** What every resolver gets. A request without a valid key is answered 401 earlier, so there is always a caller. */
export interface GraphContext {
  readonly deps: Deps;
  readonly caller: Caller;
  readonly requestId: string;
  /** The network address of the client, if it is known. */
  readonly address: string | undefined;
  /** Fires when the client of this request has disconnected. */
  readonly signal: AbortSignal;
  /** What the reply may still take; undefined only where other limits bound it. */
  readonly replyBudget?: ReplyBudget;
  /** Whether the call came over REST, whose rows choose the form of the reply. */
  readonly isRest?: boolean;
  /** Over REST only: members that a resolver adds to the reply besides its result, and the headers of the request. */
  readonly notes?: Map<string, string>;
  header?(name: string): string | undefined;
}

export type { UploadedFile };

export interface SchemaTypes {
  Context: GraphContext;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: true;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    Count: { Input: number; Output: number };
    JSON: { Input: unknown; Output: unknown };
    StringMap: { Input: unknown; Output: unknown };
    ValueMap: { Input: unknown; Output: unknown };
    PlainValue: { Input: unknown; Output: unknown };
    JsonObject: { Input: unknown; Output: unknown };
    Texts: { Input: unknown; Output: unknown };
    ToolNames: { Input: unknown; Output: unknown };
    ToolApproval: { Input: unknown; Output: unknown };
    JsonSchema: { Input: unknown; Output: unknown };
    File: { Input: UploadedFile; Output: never };
  };
}

/**
 * The schema's builder; it defines no type. Scopes are not written on fields: `domain/access/policy.ts` lists every root field with its scope, and
 * schema.ts refuses to build when one is missing.
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
  plugins: [ComplexityPlugin, DataloaderPlugin, 'replyBudget'],
  // Checked by graphql/server/operations.ts, before the first resolver runs.
  complexity: { disabled: true, fieldComplexity: fieldComplexity as never },
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
});

/** The types of the schema, for functions that make fields. */
export type BuilderTypes = typeof builder.$inferSchemaTypes;
