import { agentVisibilities } from '../../../src/entities/agents/agent.ts';
import { dataSourceTypes } from '../../../src/entities/knowledge/data-source.ts';

/** The type of a member, in the contract's terms. `one of`: an enumeration with all its values. */
export type MemberType =
  | 'string'
  | 'string or null'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'object'
  | 'date-time'
  /** A time that may not have come yet: null until then. */
  | 'date-time, or null before it'
  | { readonly oneOf: readonly string[] }
  | { readonly listOf: MemberType }
  | { readonly members: Members };
export type Members = Readonly<Record<string, MemberType>>;

const listOf = (type: MemberType): MemberType => ({ listOf: type });
const objectOf = (members: Members): MemberType => ({ members });
const oneOf = (...values: readonly string[]): MemberType => ({ oneOf: values });
const texts = (...names: readonly string[]): Members => all('string', names);
const flags = (...names: readonly string[]): Members => all('boolean', names);
const counts = (...names: readonly string[]): Members => all('integer', names);
const times = (...names: readonly string[]): Members => all('date-time', names);
const all = (type: MemberType, names: readonly string[]): Members => Object.fromEntries(names.map((name) => [name, type]));

const visibility = oneOf(...agentVisibilities);
const sourceType = oneOf(...dataSourceTypes);
const refreshPeriod = oneOf('NEVER', 'DAILY', 'WEEKLY', 'MONTHLY');
const publicCategory = oneOf(
  ...['ACCOUNTING_FINANCE', 'AI_MODELS', 'ENGINEERING', 'HUMAN_RESOURCES', 'INFORMATION_TECHNOLOGY', 'LEARNING_DEVELOPMENT'],
  ...['MARKETING', 'PRODUCTIVITY', 'SALES', 'ADVISOR', 'FEATURED'],
);

const options: Members = all(listOf('number'), [
  ...['temperature', 'topP', 'topK', 'maxTokens', 'maxInputTokens', 'frequencyPenalty', 'presencePenalty'],
]);
const editor: Members = texts('id', 'name', 'email');
const profile: Members = {
  ...texts('headline', 'description', 'trainingDescription'),
  features: listOf(objectOf(texts('title', 'description'))),
  ...flags('showCharacter', 'showTraining', 'showPersonality', 'showSpeaker', 'showVideo'),
  conversations: listOf('object'),
  ...texts('socialImage', 'idleVideo', 'idleVideoError', 'voice', 'voiceEngine', 'videoModel'),
};
const catalogs = flags('listInOrgCatalog', 'listInPublicCatalog', 'listInTenantCatalog');
const behaviour = flags('chatLogsVisible', 'generateCitations', 'intermediateStepsVisible');

/** With the members that the tool of the test has; the others are of other types. */
const standingTool: Members = {
  ...texts('type', 'searchContextSize'),
  ...flags('requireApproval', 'includeXSearch'),
  filters: objectOf({ allowedDomains: listOf('string') }),
};

const agent: Members = {
  id: 'string',
  ...times('createdAt', 'updatedAt'),
  ...texts('name', 'description', 'instructions', 'seed', 'src'),
  introduction: 'string or null',
  ...texts('orgId', 'userId', 'userName', 'orgName', 'categoryId'),
  profile: objectOf(profile),
  visibility,
  ...catalogs,
  ...behaviour,
  enabledTools: listOf(objectOf(standingTool)),
  modelId: 'string',
  options: objectOf(options),
  groups: listOf('string'),
  editors: listOf(objectOf(editor)),
  publicCategories: listOf(publicCategory),
  orgCategoryIds: listOf('string'),
  ...counts('messageCount', 'ratingCount'),
  rating: 'number',
  ...flags('isShared', 'hasUserChats', 'isApprovedByOrg', 'isPremiumModel', 'isDeleted'),
};

const bundle: Members = {
  version: 'string',
  exportedAt: 'date-time',
  source: objectOf(texts('apiBaseUrl', 'orgId')),
  agent: objectOf({
    ...texts('name', 'introduction', 'description', 'instructions', 'seed', 'src', 'modelId'),
    visibility,
    ...catalogs,
    ...behaviour,
    options: objectOf(options),
    profile: objectOf(profile),
  }),
  tools: listOf(objectOf({ ...texts('name', 'type'), data: 'object' })),
  userInputs: listOf(
    objectOf({
      ...texts('variableName', 'type', 'label'),
      configuration: 'object',
      showOnChatCreate: 'boolean',
      orderIndex: 'integer',
    }),
  ),
  flows: listOf(
    objectOf({
      name: 'string',
      enabled: 'boolean',
      versions: listOf(objectOf({ version: 'integer', active: 'boolean', description: 'string', data: 'object' })),
    }),
  ),
  dataSources: listOf(
    objectOf({
      ...texts('originalId', 'name'),
      type: sourceType,
      refreshPeriod,
      data: 'object',
      knowledgeItems: listOf(objectOf(texts('name', 'type', 'uniqueId', 'blobUrl', 'filename', 'mimeType'))),
    }),
  ),
  skills: listOf(objectOf({ ...texts('name', 'description', 'content'), enabled: 'boolean' })),
  requiredSecrets: listOf(objectOf(texts('key', 'description', 'secretType'))),
};

const chat: Members = {
  id: 'string',
  ...times('createdAt', 'updatedAt'),
  ...texts('name', 'userId'),
  pinPosition: 'integer',
  ai: objectOf(texts('id', 'name', 'src', 'description', 'userId', 'userName')),
};
const message: Members = { id: 'string', ...times('createdAt', 'updatedAt'), ...texts('content', 'role') };
const chatWithMessages: Members = { ...chat, messages: listOf(objectOf(message)) };

const dataSource: Members = {
  id: 'string',
  ...times('createdAt', 'updatedAt', 'lastIndexedAt'),
  ...texts('orgId', 'ownerUserId', 'name'),
  type: sourceType,
  refreshPeriod,
  ...texts('indexStatus', 'indexPercentage'),
  data: 'object',
  ...flags('cite', 'orgVisible'),
};
/** For a source that was just added. */
const addedDataSource: Members = { ...dataSource, lastIndexedAt: 'date-time, or null before it' };
const listedDataSource: Members = {
  ...dataSource,
  ais: listOf(objectOf(texts('id', 'name', 'src'))),
  ownerUser: objectOf(texts('id', 'email', 'name')),
};
const statistics: Members = counts('doneCount', 'failedCount', 'pendingCount', 'indexingCount', 'totalCount');

const knowledgeItem: Members = {
  ...texts('id', 'name', 'uniqueId', 'parentUniqueId', 'type', 'indexStatus'),
  ...counts('documentCount', 'tokenCount'),
  originalContent: objectOf({
    ...texts('contentBlobUrl', 'filename', 'mimeType', 'contentUrl'),
    isContentStoredExternally: 'boolean',
  }),
  ...texts('documentsBlobUrl', 'indexPercentage'),
  metadata: 'object',
  ...flags('isBlobStorageDeleted', 'cite'),
};

const apiKey: Members = {
  ...texts('id', 'orgId', 'userId', 'userEmail', 'name'),
  ...times('createdAt', 'updatedAt'),
  lastUsedAt: 'date-time, or null before it',
  scopes: listOf('string'),
};
const createdApiKey: Members = { ...apiKey, key: 'string' };

const group: Members = {
  ...texts('id', 'orgId', 'ownerUserId', 'name'),
  ...times('createdAt', 'updatedAt'),
  availability: oneOf('EVERYONE', 'RESTRICTED'),
};
const groupWithUsers: Members = {
  ...group,
  users: listOf(objectOf({ ...times('createdAt', 'updatedAt'), ...texts('userId', 'email') })),
};

const usage: Members = {
  orgUsage: objectOf({
    orgId: 'string',
    ...counts('dataTokensUsed', 'dataUsageTokenLimit', 'apiTokensUsed', 'apiUsageTokenLimit'),
  }),
  aiUsages: listOf(objectOf({ aiId: 'string', ...counts('aiDataTokensUsed', 'aiApiTokensUsed') })),
};

const chatFile: Members = {
  id: 'string',
  createdAt: 'date-time',
  source: oneOf('USER', 'SYSTEM'),
  filename: 'string',
  size: 'integer',
  ...texts('mimeType', 'url'),
  metadata: 'object',
  deletedAt: 'date-time, or null before it',
  status: oneOf('PENDING', 'UPLOADED', 'DELETED', 'FAILED'),
};

const importReply: Members = { aiId: 'string', warnings: listOf('string') };
const attachReply: Members = texts('aiId', 'dataSourceId');
const uploadToken: Members = { ...texts('url', 'pathname', 'contentType'), size: 'integer' };
const completion: Members = {
  choices: listOf(
    objectOf({
      index: 'integer',
      message: objectOf({ role: oneOf('assistant'), content: 'string' }),
      finish_reason: 'string',
    }),
  ),
  chatId: 'string',
};

/** Every resource of the contract, and further members of its operations' replies. */
export const resources = {
  profile,
  agent,
  bundle,
  chat,
  chatWithMessages,
  dataSource,
  addedDataSource,
  listedDataSource,
  statistics,
  knowledgeItem,
  apiKey,
  createdApiKey,
  group,
  groupWithUsers,
  usage,
  chatFile,
  importReply,
  attachReply,
  uploadToken,
  completion,
} as const satisfies Record<string, Members>;
