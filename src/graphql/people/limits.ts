import { getTokenLimits } from '../../domain/operations/usage.ts';
import type { RateRest } from '../../engine/sharing/rate-limits.ts';
import type { TokenLimit } from '../../entities/operations/usage.ts';
import type { Caller } from '../../entities/people/caller.ts';
import type { Settings } from '../../settings.ts';
import { builder } from '../ground/builder/builder.ts';
import { pageSizeDefault } from '../ground/pagination.ts';
import { ViewerType } from './viewer.ts';

const RateLimitType = builder.objectRef<RateRest>('RateLimit').implement({
  access: { scope: null },
  description: 'How often calls may be made.',
  fields: (t) => ({
    requestsPerMinute: t.exposeInt('perMinute', { description: 'Requests a minute; also how many may be made at once.' }),
    requestsLeft: t.exposeInt('left', { description: 'How many of them are left now, as far as this process knows.' }),
  }),
});

const TokenLimitType = builder.objectRef<TokenLimit>('TokenLimit').implement({
  access: { scope: 'USAGE:READ' },
  description: 'How many tokens an organization may use in all.',
  fields: (t) => ({
    limit: t.expose('limit', { type: 'Count', nullable: true, description: 'Null: no limit.' }),
    used: t.expose('used', { type: 'Count', description: 'Used until now.' }),
    left: t.field({
      type: 'Count',
      nullable: true,
      description: 'What is left; null without a limit.',
      resolve: ({ limit, used: usedAmount }) => (limit === null ? null : Math.max(0, limit - usedAmount)),
    }),
  }),
});

export const ViewerLimitsRef = builder.objectRef<Caller>('ViewerLimits');

type Name = {
  [Key in keyof Settings]-?: Settings[Key] extends number ? Key : never;
}[keyof Settings];
type Fields = Parameters<Parameters<typeof ViewerLimitsRef.implement>[0]['fields'] & object>[0];

/** A limit that settings or constants of the service say. Count: an operator may choose more than 32 bits. */
function setting(t: Fields, name: Name, description: string) {
  return t.field({ type: 'Count', description, resolve: (_caller, _args, { deps }) => deps.settings[name] });
}

const ViewerLimitsType = ViewerLimitsRef.implement({
  access: { scope: null },
  description: 'What one call, the key and its organization may do, so that a front end need not find out by errors.',
  fields: (t) => ({
    keyRate: t.field({
      type: RateLimitType,
      nullable: true,
      description: 'Requests of the key; null: no limit.',
      resolve: (caller, _args, { deps }) => deps.rates.rest(caller, performance.now()).key ?? null,
    }),
    organizationRate: t.field({
      type: RateLimitType,
      nullable: true,
      description: 'Requests of all keys of the organization; null: no limit.',
      resolve: (caller, _args, { deps }) => deps.rates.rest(caller, performance.now()).organization ?? null,
    }),
    runTokens: t.field({
      type: TokenLimitType,
      nullable: true,
      description: 'Tokens of runs; null for a key without the scope USAGE:READ.',
      resolve: async (caller, _args, { deps }) => (await getTokenLimits(deps, caller)).api,
    }),
    dataTokens: t.field({
      type: TokenLimitType,
      nullable: true,
      description: 'Tokens of embedding and indexing; null for a key without the scope USAGE:READ.',
      resolve: async (caller, _args, { deps }) => (await getTokenLimits(deps, caller)).data,
    }),
    pageSizeDefault: t.int({
      description: 'Items of a page that is asked for without `first` and `last`.',
      resolve: (_caller, _args, { deps }) => Math.min(pageSizeDefault, deps.settings.LIST_MAX),
    }),
    pageSizeMax: setting(t, 'LIST_MAX', 'The largest `first` and `last` of a list.'),
    bodyMaxBytes: setting(t, 'BODY_MAX_BYTES', 'The largest body of a request in JSON.'),
    replyMaxBytes: setting(t, 'REPLY_MAX_BYTES', 'The largest reply in JSON.'),
    chatFileMaxBytes: setting(t, 'CHAT_FILE_MAX_BYTES', 'The largest file of a chat.'),
    sourceFileMaxBytes: setting(t, 'UPLOAD_MAX_BYTES', 'The largest file of a data source.'),
    chatFilesMax: setting(t, 'CHAT_FILES_MAX', 'Files of one chat.'),
    filesMax: setting(t, 'FILES_MAX', 'Files of one user outside chats and data sources.'),
    vectorStoreFilesMax: setting(t, 'VECTOR_STORE_FILES_MAX', 'Files of one vector store.'),
    agentSourcesMax: setting(t, 'AGENT_DATA_SOURCES_MAX', 'Data sources of one agent.'),
    memoriesMax: setting(t, 'MEMORIES_MAX', 'Memories of one user.'),
    memoryMaxChars: setting(t, 'MEMORY_MAX_CHARS', 'Characters of one memory.'),
    requestMessagesMax: setting(t, 'MESSAGES_MAX', 'Messages in one request.'),
    requestToolsMax: setting(t, 'TOOLS_MAX', 'Tools in one request.'),
    runTimeoutMs: setting(t, 'RUN_TIMEOUT_MS', 'A run is cut off after this time.'),
    organizationSubscriptionsMax: setting(
      t,
      'SUBSCRIPTIONS_PER_ORGANIZATION_MAX',
      'Subscriptions without a run that the organization may have open at one process.',
    ),
    personSubscriptionsMax: setting(t, 'SUBSCRIPTIONS_PER_PERSON_MAX', 'Those that one person may have open of them.'),
    documentTokensMax: setting(t, 'GRAPHQL_TOKENS_MAX', 'Tokens of one GraphQL document.'),
    documentDepthMax: setting(t, 'GRAPHQL_DEPTH_MAX', 'The depth of one GraphQL document.'),
    documentAliasesMax: setting(t, 'GRAPHQL_ALIASES_MAX', 'Aliases in one GraphQL document.'),
    operationCostMax: setting(
      t,
      'GRAPHQL_COST_MAX',
      'The cost of one operation: 1 for each object, 0.2 for each text and 0.05 for each other value that it may show.',
    ),
  }),
});

builder.objectField(ViewerType, 'limits', (t) =>
  t.field({
    type: ViewerLimitsType,
    description: 'What the key and the organization may do.',
    resolve: (caller) => caller,
  }),
);
