import type { Scope } from '../../entities/accounts/caller.ts';

/** Kinds of people's content in replies. `instructions`: the inner data of an agent, which callers who may only use the agent do not see. */
export type ContentNoun = 'agent' | 'instructions' | 'dataSource' | 'chat' | 'run';

/** How the audit log finds the thing that an object of a type shows. */
export interface VisibleContent {
  readonly noun: ContentNoun;
  /** The member that holds the id of the thing. */
  readonly id: string;
  /** The member that holds its owner, if there is one: reads of own things are not looked up in the database. */
  readonly owner?: string;
}
export interface TypeRule {
  /** The scope that reads objects of the type directly. Null: a key of any scope may see them. */
  readonly scope: Scope | null;
  readonly shows?: VisibleContent;
}

const agents: TypeRule = { scope: 'AGENTS:READ' };
const skills: TypeRule = { scope: 'SKILLS:READ' };
const dataSources: TypeRule = { scope: 'DATA_SOURCES:READ' };
const chats: TypeRule = { scope: 'CHATS:READ' };
const groups: TypeRule = { scope: 'GROUPS:READ' };
const usage: TypeRule = { scope: 'USAGE:READ' };
const administration: TypeRule = { scope: 'ADMIN:READ' };
const open: TypeRule = { scope: null };

/**
 * Every object type and the scope that reads it. A field that leads from one noun to another needs the scope of the other noun, so
 * that a key sees through nesting only what it sees directly. The schema does not build with a type that is not listed. A connection
 * and its edges follow the type of their nodes.
 */
export const typeRules: Readonly<Record<string, TypeRule>> = {
  Node: open,
  PageInfo: open,
  Viewer: open,
  Warning: open,
  Model: open,
  ServiceTool: open,
  ModelCatalog: open,
  ModelCatalogEntry: { ...open, shows: { noun: 'agent', id: 'id' } },
  // agents
  Agent: { ...agents, shows: { noun: 'agent', id: 'id', owner: 'userId' } },
  AgentBundle: agents,
  AgentBundleSource: agents,
  AgentCategory: agents,
  AgentEditor: agents,
  AgentFlow: agents,
  AgentFlowVersion: agents,
  AgentOptions: agents,
  EnabledTool: agents,
  ToolSearchFilters: agents,
  ToolUserLocation: agents,
  ToolRankingOptions: agents,
  ToolImage: agents,
  ToolResearchBudget: agents,
  AgentProfile: agents,
  AgentProfileFeature: agents,
  AgentSecret: agents,
  AgentTool: agents,
  AgentUserInput: agents,
  BundledAgent: agents,
  BundledFlow: agents,
  BundledFlowVersion: agents,
  BundledTool: agents,
  BundledUserInput: agents,
  ImportAgentPayload: agents,
  RequiredSecret: agents,
  UsingAgent: { ...agents, shows: { noun: 'agent', id: 'id' } },
  AgentSkill: skills,
  BundledSkill: skills,
  // knowledge
  AttachDataSourcePayload: dataSources,
  BulkDeleteDataSourcesPayload: dataSources,
  CitedDocument: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  BundledDataSource: dataSources,
  BundledKnowledgeItem: dataSources,
  DataSource: { ...dataSources, shows: { noun: 'dataSource', id: 'id', owner: 'ownerUserId' } },
  IndexingStatistics: dataSources,
  SourceVectors: dataSources,
  KnowledgeSearch: dataSources,
  KnowledgeSearchHit: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  LegScores: dataSources,
  MatchedWord: dataSources,
  Retrieval: dataSources,
  SearchedQuestion: dataSources,
  KnowledgeItem: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  OriginalContent: dataSources,
  SourceRun: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  UploadToken: dataSources,
  DeletedVectorStore: dataSources,
  DeletedVectorStoreFile: dataSources,
  VectorStore: { ...dataSources, shows: { noun: 'dataSource', id: 'id', owner: 'ownerUserId' } },
  VectorStoreFile: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  VectorStoreFileBatch: { ...dataSources, shows: { noun: 'dataSource', id: 'dataSourceId' } },
  VectorStoreFileContent: dataSources,
  VectorStoreFileCounts: dataSources,
  VectorStoreFilePassage: dataSources,
  VectorStoreFileError: dataSources,
  VectorStoreFileList: dataSources,
  VectorStoreList: dataSources,
  VectorStoreResult: dataSources,
  VectorStoreResultContent: dataSources,
  VectorStoreResults: dataSources,
  ConnectionEntries: { scope: 'CONNECTIONS:READ' },
  ConnectionEntry: { scope: 'CONNECTIONS:READ' },
  AuthorizeConnectionPayload: { scope: 'CONNECTIONS:WRITE' },
  LinkedService: { scope: 'CONNECTIONS:READ' },
  // chats, completions, responses
  Chat: { ...chats, shows: { noun: 'chat', id: 'id', owner: 'userId' } },
  // The label of a chat's agent is a part of the chat: its user sees it when the agent is gone, too.
  ChatAgent: chats,
  ChatCompression: chats,
  ChatExport: chats,
  ChatFile: chats,
  ChatSummary: chats,
  Citation: chats,
  Compaction: chats,
  Conversation: { ...chats, shows: { noun: 'chat', id: 'id' } },
  ConversationItemList: chats,
  DeletedConversation: chats,
  DeletedFile: chats,
  Embedding: chats,
  EmbeddingUsage: chats,
  Embeddings: chats,
  DeleteMemoriesPayload: chats,
  FileObject: chats,
  FileObjectList: chats,
  FileUpload: chats,
  FileUploadPart: chats,
  // Reached through a chat or a run, which are noted.
  Message: chats,
  // Its user alone sees it.
  AgentGrants: chats,
  Memory: chats,
  ModelFallback: chats,
  LikelyToken: chats,
  ResponseInputItemList: chats,
  RunRequest: chats,
  TokenLogprob: chats,
  Run: { ...chats, shows: { noun: 'chat', id: 'chatId', owner: 'userId' } },
  RunError: chats,
  OutputFile: chats,
  RunItem: chats,
  RunApproval: chats,
  RunCallError: chats,
  RunFileSearch: chats,
  RunFileSearchResult: chats,
  RunMcpCall: chats,
  RunMcpListing: chats,
  RunMcpTool: chats,
  RunWebSearch: chats,
  RunWebSource: chats,
  RunSnapshot: chats,
  SelectionMetadata: chats,
  Subagent: chats,
  ToolCall: chats,
  Usage: chats,
  // events of runs
  RunEvent: chats,
  ArgumentsDeltaEvent: chats,
  ArgumentsDoneEvent: chats,
  CitationEvent: chats,
  InputEvent: chats,
  ItemAddedEvent: chats,
  ItemDoneEvent: chats,
  ReasoningDeltaEvent: chats,
  RunEndedEvent: chats,
  RunStartedEvent: chats,
  ServerToolEvent: chats,
  StepEvent: chats,
  FlowStep: chats,
  RunTrace: { ...chats, shows: { noun: 'chat', id: 'chatId', owner: 'userId' } },
  TracedModelCall: chats,
  TracedPassage: chats,
  TracedRetrieval: chats,
  TracedSkill: chats,
  TracedToolCall: chats,
  FlowStepEvent: chats,
  SubagentCompletedEvent: chats,
  SubagentProgressEvent: chats,
  SubagentStartedEvent: chats,
  TextDeltaEvent: chats,
  TextDoneEvent: chats,
  TextStartedEvent: chats,
  UsageEvent: chats,
  CheckpointEvent: chats,
  // people, keys, usage
  Group: groups,
  GroupMember: groups,
  ApiKey: { scope: 'API_KEYS:READ' },
  AgentUsage: usage,
  OrganizationUsage: usage,
  UsageDay: usage,
  UsageReport: usage,
  AuditChange: administration,
  AuditEntry: administration,
  Membership: administration,
  Organization: administration,
  Tenant: administration,
  User: administration,
};

/** Fields that only editors of an agent see, with the member that holds the id of the agent. */
export const insideFields: Readonly<Record<string, string>> = {
  'Agent.instructions': 'id',
  'AgentFlow.versions': 'agentId',
  'AgentSkill.content': 'agentId',
  'AgentTool.data': 'agentId',
};

/**
 * What an id or an e-mail refers to, by the name of its field: the scope that reads that thing. Null: labels of the owner or the
 * place of a thing, and members of the thing itself. The schema does not build with a name that is not listed.
 */
export const referenceScopes: Readonly<Record<string, Scope | null>> = {
  activeRunId: 'CHATS:READ',
  actorEmail: null,
  actorKeyId: null,
  actorUserId: null,
  agentId: 'AGENTS:READ',
  agents: 'AGENTS:READ',
  aiId: 'AGENTS:READ',
  approvalRequestId: 'CHATS:READ',
  chatId: 'CHATS:READ',
  connections: 'CONNECTIONS:READ',
  createdByKeyId: 'API_KEYS:READ',
  createdByUserId: null,
  dataSourceId: 'DATA_SOURCES:READ',
  dataSourceIds: 'DATA_SOURCES:READ',
  email: null,
  fileId: 'CHATS:READ',
  groupIds: 'GROUPS:READ',
  itemId: 'CHATS:READ',
  keyId: 'API_KEYS:READ',
  knowledgeItemId: 'DATA_SOURCES:READ',
  orgId: null,
  ownerUserId: null,
  parentId: 'CHATS:READ',
  runId: 'CHATS:READ',
  subagentId: 'CHATS:READ',
  systemMessageId: 'CHATS:READ',
  targetId: null,
  targetIds: null,
  tenantId: null,
  uploadId: 'CHATS:READ',
  userEmail: null,
  vectorStoreId: 'DATA_SOURCES:READ',
  userId: null,
};

/** Fields that need no scope of their own although they lead to another noun, and the reason. */
export const sharedFields: Readonly<Record<string, string>> = {
  'Query.node': 'asks for the scope of the thing that it finds',
  'Query.viewer': 'the caller itself',
  'Viewer.keyId': 'the key of this call',
  'Viewer.user': 'the user of this key',
  'Viewer.organization': 'the organization of this key',
  'AgentSkill.agentId': 'the caller named it',
  'AgentUsage.agentId': 'use is listed by agent, as far as the caller may use it',
  'AttachDataSourcePayload.aiId': 'the caller named it',
  'BulkDeleteDataSourcesPayload.aiId': 'the caller named it',
  'VectorStoreFile.vectorStoreId': 'the caller named it',
  'VectorStoreFileBatch.vectorStoreId': 'the caller named it',
  'FileUploadPart.uploadId': 'the caller named it',
  'VectorStoreResult.fileId': 'a result says what it rests on',
  'AgentGrants.agentId': 'the caller named it when it granted',
  'AgentGrants.connections': 'the caller named them when it granted',
  'AgentGrants.agents': 'the caller named them when it granted',
  'Memory.agentId': 'a memory says with which agent it is remembered',
  'Citation.dataSourceId': 'an answer says what it rests on',
  'Citation.knowledgeItemId': 'an answer says what it rests on',
  'DataSource.ownerUser': 'a source says who added it, to who may see the source',
};

/**
 * What an id within an `input` refers to, by its name: a caller that names another noun must be able to read it. Arguments beside `input`
 * are the subject of the operation: its own scope covers them.
 */
export const inputReferenceScopes: Readonly<Record<string, Scope | null>> = {
  agentId: 'AGENTS:READ',
  ais: 'AGENTS:READ',
  dataSourceId: 'DATA_SOURCES:READ',
  dataSourceIds: 'DATA_SOURCES:READ',
  fileId: 'CHATS:READ',
  fileIds: 'CHATS:READ',
  groups: 'GROUPS:READ',
  oauthTokenId: 'CONNECTIONS:READ',
  // Parts of the upload that the operation is about.
  partIds: null,
  repoHostAppInstallationId: 'CONNECTIONS:READ',
  // Of grants: the domain asks for the scope. Subagents of a request are named like its model, which asks for none.
  agents: null,
  connections: null,
  // Accounts: the domain decides which ones the caller may name.
  id: null,
  orgId: null,
  tenantId: null,
  userId: null,
};
