import type { Caller, Scope } from '../../../entities/people/caller.ts';

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
  agentIds: 'AGENTS:READ',
  agents: 'AGENTS:READ',
  aiId: 'AGENTS:READ',
  approvalRequestId: 'CHATS:READ',
  caseId: 'CHATS:READ',
  chatId: 'CHATS:READ',
  connectionId: 'CONNECTIONS:READ',
  connections: 'CONNECTIONS:READ',
  createdByKeyId: 'API_KEYS:READ',
  createdByUserId: null,
  endedByUserId: null,
  requestedByUserId: null,
  transferToUserId: null,
  deliveryId: 'ADMIN:READ',
  datasetId: 'AGENTS:READ',
  dataSourceId: 'DATA_SOURCES:READ',
  dataSourceIds: 'DATA_SOURCES:READ',
  email: null,
  experimentId: 'AGENTS:READ',
  fileId: 'CHATS:READ',
  groupIds: 'GROUPS:READ',
  itemId: 'CHATS:READ',
  keyId: 'API_KEYS:READ',
  knowledgeItemId: 'DATA_SOURCES:READ',
  messageId: 'CHATS:READ',
  orgId: null,
  ownerEmail: null,
  ownerUserId: null,
  parentId: 'CHATS:READ',
  previousResponseId: 'CHATS:READ',
  projectId: 'CHATS:READ',
  responseId: 'CHATS:READ',
  restEmail: null,
  runId: 'CHATS:READ',
  scheduleId: 'CHATS:READ',
  subagentId: 'CHATS:READ',
  // Of a budget: what it bounds.
  subjectId: null,
  systemMessageId: 'CHATS:READ',
  targetId: null,
  targetIds: null,
  tenantId: null,
  uploadId: 'CHATS:READ',
  webhookId: 'ADMIN:READ',
  vectorStoreId: 'DATA_SOURCES:READ',
  vectorStoreIds: 'DATA_SOURCES:READ',
  userId: null,
};

/** Whether the key may see what a member of this name refers to. */
export function mayReadReferences({ scopes }: Pick<Caller, 'scopes'>, member: string): boolean {
  const scope = referenceScopes[member] ?? null;
  return scope === null || scopes.has(scope);
}

/** Fields that need no scope of their own although they lead to another noun, and the reason. */
export const sharedFields: Readonly<Record<string, string>> = {
  'Query.node': 'asks for the scope of the thing that it finds',
  'Query.nodes': 'asks for the scopes of the things that it finds',
  'Query.viewer': 'the caller itself',
  'Query.search': 'leaves out the kinds of things that the key may not read',
  'Viewer.keyId': 'the key of this call',
  'AgentSkill.agentId': 'the caller named it',
  'ApiKeyUsage.keyId': 'use is listed by key, as far as the caller may see it',
  'AgentUsage.agentId': 'use is listed by agent, as far as the caller may use it',
  'AttachDataSourcePayload.agentId': 'the caller named it',
  'BulkDeleteDataSourcesPayload.agentId': 'the caller named it',
  'FileUploadPart.uploadId': 'the caller named it',
  'VectorStoreFile.fileId': 'a file of a store says what it was made of',
  'AgentGrants.agentId': 'the caller named it when it granted',
  'AgentGrants.connections': 'the caller named them when it granted',
  'AgentGrants.agents': 'the caller named them when it granted',
  'GrantedThing.connectionId': 'the caller named it when it granted',
  'GrantedThing.agentId': 'the caller named it when it granted',
  'Memory.agentId': 'a memory says with which agent it is remembered',
  'Schedule.webhookId': 'a schedule says who gets its answers',
  'Schedule.agentId': 'a schedule says which agent it runs',
  'Citation.dataSourceId': 'an answer says what it rests on',
  'Citation.knowledgeItemId': 'an answer says what it rests on',
  'DataSource.owner': 'a source says who added it, to who may see the source',
  'Integration.owner': 'a connection says whose it is, to who may see the connection',
  'DriveASettings.fileId': 'a file of the service, not of Parley',
  'DriveBSettings.fileId': 'a file of the service, not of Parley',
  'RunRequest.tools': 'what the caller named in the request',
};

/**
 * What an id within an `input` refers to, by its name: a caller that names another noun must be able to read it. Arguments beside `input`
 * are the subject of the operation: its own scope covers them.
 */
export const inputReferenceScopes: Readonly<Record<string, Scope | null>> = {
  agentId: 'AGENTS:READ',
  ais: 'AGENTS:READ',
  connectionId: 'CONNECTIONS:READ',
  chatId: 'CHATS:READ',
  chatIds: 'CHATS:READ',
  dataSourceId: 'DATA_SOURCES:READ',
  dataSourceIds: 'DATA_SOURCES:READ',
  datasetId: 'AGENTS:READ',
  fileId: 'CHATS:READ',
  fileIds: 'CHATS:READ',
  groupIds: 'GROUPS:READ',
  groups: 'GROUPS:READ',
  previousResponseId: 'CHATS:READ',
  projectId: 'CHATS:READ',
  oauthTokenId: 'CONNECTIONS:READ',
  // Parts of the upload that the operation is about.
  partIds: null,
  repoHostAppInstallationId: 'CONNECTIONS:READ',
  // Of tools: the domain asks for the scope, of requests only.
  inputImageId: null,
  vectorStoreIds: null,
  // Of grants: the domain asks for the scope. Subagents of a request are named like its model, which asks for none.
  agents: null,
  agentIds: null,
  connections: null,
  // Agents: a filter. The domain asks for the scope: a group that the caller may not read has no agents.
  groupId: null,
  // The last message of a link: the domain asks whether it is one of the caller's chat.
  messageId: 'CHATS:READ',
  // Handed over: the domain asks for the scope.
  scheduleId: null,
  // Of a schedule: the domain asks whether the webhook takes answers of everybody.
  webhookId: null,
  // What a budget is of, named by an administrator.
  subjectId: null,
  // A member who takes over, named by an administrator.
  transferToUserId: null,
  // Filters: runs by the key that asked for them, audit entries by who did what to what.
  keyId: null,
  actorUserId: null,
  targetId: null,
  // Accounts: the domain decides which ones the caller may name.
  id: null,
  orgId: null,
  tenantId: null,
  toUserId: null,
  userId: null,
};
