import type { Caller, Scope } from '../../entities/accounts/caller.ts';
import { DomainError } from '../../entities/errors.ts';

/**
 * Every operation and the scope its key needs: the one table that GraphQL, REST, OpenAPI and the tests read. The schema does not build with
 * an operation that is missing here. `null` needs a key and no scope.
 */
export const operationScopes: Readonly<Record<string, Scope | null>> = {
  'Query.viewer': null,
  'Query.node': null,
  // agents
  'Query.agent': 'AGENTS:READ',
  'Query.agents': 'AGENTS:READ',
  'Mutation.createAgent': 'AGENTS:WRITE',
  'Mutation.updateAgent': 'AGENTS:WRITE',
  'Mutation.deleteAgent': 'AGENTS:WRITE',
  'Mutation.approveAgent': 'AGENTS:WRITE',
  'Mutation.rateAgent': 'AGENTS:READ',
  'Mutation.generateAgentProfile': 'AGENTS:WRITE',
  'Query.agentCategories': 'AGENTS:READ',
  'Mutation.createAgentCategory': 'AGENTS:WRITE',
  'Mutation.renameAgentCategory': 'AGENTS:WRITE',
  'Mutation.deleteAgentCategory': 'AGENTS:WRITE',
  // what agents are made of
  'Query.agentBundle': 'AGENTS:READ',
  'Mutation.importAgent': 'AGENTS:WRITE',
  'Query.agentTools': 'AGENTS:READ',
  'Query.agentTool': 'AGENTS:READ',
  'Mutation.createAgentTool': 'AGENTS:WRITE',
  'Mutation.updateAgentTool': 'AGENTS:WRITE',
  'Mutation.deleteAgentTool': 'AGENTS:WRITE',
  'Query.userInputs': 'AGENTS:READ',
  'Query.userInput': 'AGENTS:READ',
  'Mutation.createUserInput': 'AGENTS:WRITE',
  'Mutation.updateUserInput': 'AGENTS:WRITE',
  'Mutation.deleteUserInput': 'AGENTS:WRITE',
  'Query.skills': 'SKILLS:READ',
  'Query.skill': 'SKILLS:READ',
  'Mutation.createSkill': 'SKILLS:WRITE',
  'Mutation.updateSkill': 'SKILLS:WRITE',
  'Mutation.deleteSkill': 'SKILLS:WRITE',
  'Query.flows': 'AGENTS:READ',
  'Query.flow': 'AGENTS:READ',
  'Mutation.createFlow': 'AGENTS:WRITE',
  'Mutation.updateFlow': 'AGENTS:WRITE',
  'Mutation.deleteFlow': 'AGENTS:WRITE',
  'Query.agentSecrets': 'AGENTS:READ',
  'Query.agentSecret': 'AGENTS:READ',
  'Mutation.createAgentSecret': 'AGENTS:WRITE',
  'Mutation.updateAgentSecret': 'AGENTS:WRITE',
  'Mutation.deleteAgentSecret': 'AGENTS:WRITE',
  // completions, models
  'Query.models': null,
  'Query.modelCatalog': null,
  'Mutation.createCompletion': 'CHATS:WRITE',
  'Subscription.completionEvents': 'CHATS:WRITE',
  // chats
  'Query.chat': 'CHATS:READ',
  'Query.chats': 'CHATS:READ',
  'Mutation.createChat': 'CHATS:WRITE',
  'Mutation.updateChat': 'CHATS:WRITE',
  'Mutation.deleteChat': 'CHATS:WRITE',
  'Mutation.duplicateChat': 'CHATS:WRITE',
  'Mutation.resetChat': 'CHATS:WRITE',
  'Mutation.summarizeChat': 'CHATS:WRITE',
  'Mutation.compressChat': 'CHATS:WRITE',
  'Query.chatExport': 'CHATS:READ',
  'Query.chatFile': 'CHATS:READ',
  'Query.chatFiles': 'CHATS:READ',
  'Mutation.uploadChatFile': 'CHATS:WRITE',
  'Mutation.createChatFileRecord': 'CHATS:WRITE',
  'Mutation.putChatFileContent': 'CHATS:WRITE',
  'Mutation.deleteChatFile': 'CHATS:WRITE',
  'Subscription.chatUpdated': 'CHATS:READ',
  // runs
  'Query.run': 'CHATS:READ',
  'Mutation.sendMessage': 'CHATS:WRITE',
  'Mutation.submitToolOutputs': 'CHATS:WRITE',
  'Mutation.cancelRun': 'CHATS:WRITE',
  'Subscription.runEvents': 'CHATS:READ',
  'Subscription.messageEvents': 'CHATS:WRITE',
  'Subscription.toolOutputEvents': 'CHATS:WRITE',
  // responses
  'Query.response': 'CHATS:READ',
  'Query.responseInputItems': 'CHATS:READ',
  'Query.activeRuns': 'CHATS:READ',
  'Mutation.createResponse': 'CHATS:WRITE',
  'Mutation.cancelResponse': 'CHATS:WRITE',
  'Mutation.pauseResponse': 'CHATS:WRITE',
  'Mutation.resumeResponse': 'CHATS:WRITE',
  'Mutation.deleteResponse': 'CHATS:WRITE',
  'Mutation.compactResponse': 'CHATS:WRITE',
  'Subscription.newResponseEvents': 'CHATS:WRITE',
  'Subscription.responseEvents': 'CHATS:READ',
  'Subscription.resumedResponseEvents': 'CHATS:WRITE',
  'Subscription.runsUpdated': 'CHATS:READ',
  // data sources
  'Query.dataSource': 'DATA_SOURCES:READ',
  'Query.dataSources': 'DATA_SOURCES:READ',
  'Query.agentDataSources': 'DATA_SOURCES:READ',
  'Query.indexingStatistics': 'DATA_SOURCES:READ',
  'Query.knowledgeItem': 'DATA_SOURCES:READ',
  'Query.knowledgeItems': 'DATA_SOURCES:READ',
  'Mutation.addApiDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addFileDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addWebUrlDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addDriveADataSources': 'DATA_SOURCES:WRITE',
  'Mutation.addDriveBDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addWikiDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addTrackerDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.addRepoHostDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.createUploadToken': 'DATA_SOURCES:WRITE',
  'Mutation.uploadDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.attachDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.updateDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.deleteDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.bulkDeleteDataSources': 'DATA_SOURCES:WRITE',
  'Mutation.refreshDataSource': 'DATA_SOURCES:WRITE',
  'Mutation.updateKnowledgeItem': 'DATA_SOURCES:WRITE',
  'Subscription.dataSourceUpdated': 'DATA_SOURCES:READ',
  // connections
  'Query.connection': 'CONNECTIONS:READ',
  'Query.connections': 'CONNECTIONS:READ',
  'Mutation.storeOauthToken': 'CONNECTIONS:WRITE',
  'Mutation.storeRepoHostInstallation': 'CONNECTIONS:WRITE',
  'Mutation.storeMcpServer': 'CONNECTIONS:WRITE',
  'Mutation.updateConnection': 'CONNECTIONS:WRITE',
  'Mutation.deleteConnection': 'CONNECTIONS:WRITE',
  // administration, usage
  'Query.tenant': 'ADMIN:READ',
  'Query.tenants': 'ADMIN:READ',
  'Mutation.createTenant': 'ADMIN:WRITE',
  'Mutation.updateTenant': 'ADMIN:WRITE',
  'Mutation.deleteTenant': 'ADMIN:WRITE',
  'Query.organization': 'ADMIN:READ',
  'Query.organizations': 'ADMIN:READ',
  'Mutation.createOrganization': 'ADMIN:WRITE',
  'Mutation.updateOrganization': 'ADMIN:WRITE',
  'Mutation.deleteOrganization': 'ADMIN:WRITE',
  'Query.user': 'ADMIN:READ',
  'Query.users': 'ADMIN:READ',
  'Mutation.createUser': 'ADMIN:WRITE',
  'Mutation.updateUser': 'ADMIN:WRITE',
  'Mutation.deleteUser': 'ADMIN:WRITE',
  'Query.membership': 'ADMIN:READ',
  'Query.memberships': 'ADMIN:READ',
  'Mutation.createMembership': 'ADMIN:WRITE',
  'Mutation.updateMembership': 'ADMIN:WRITE',
  'Mutation.deleteMembership': 'ADMIN:WRITE',
  'Query.auditLog': 'ADMIN:READ',
  'Query.usage': 'USAGE:READ',
  'Query.usageDays': 'USAGE:READ',
  'Subscription.usageUpdated': 'USAGE:READ',
  // keys, groups
  'Query.apiKeys': 'API_KEYS:READ',
  'Mutation.createApiKey': 'API_KEYS:WRITE',
  'Mutation.revokeApiKey': 'API_KEYS:WRITE',
  'Query.group': 'GROUPS:READ',
  'Query.myGroups': 'GROUPS:READ',
  'Mutation.createGroup': 'GROUPS:WRITE',
  'Mutation.updateGroup': 'GROUPS:WRITE',
  'Mutation.deleteGroup': 'GROUPS:WRITE',
};

/**
 * Operations whose calls run a model, or follow a run. Both APIs count them as places in the pool of runs, so that no caller takes all
 * places.
 */
export const runOperations: ReadonlySet<string> = new Set([
  'Mutation.generateAgentProfile',
  'Mutation.createCompletion',
  'Mutation.sendMessage',
  'Mutation.submitToolOutputs',
  'Mutation.summarizeChat',
  'Mutation.compressChat',
  'Subscription.completionEvents',
  'Subscription.messageEvents',
  'Subscription.toolOutputEvents',
  'Subscription.runEvents',
  'Mutation.createResponse',
  'Mutation.compactResponse',
  'Mutation.resumeResponse',
  'Subscription.newResponseEvents',
  'Subscription.responseEvents',
  'Subscription.resumedResponseEvents',
]);

/**
 * Checks that the caller's key has the scope of an operation. Whether the caller may use a certain thing is decided later, where the thing is
 * loaded.
 *
 * @param operation  `Query.agents`, `Mutation.createAgent`, … as in `operationScopes`.
 * @throws DomainError INSUFFICIENT_SCOPE, also for an operation that the table does not know.
 */
export function requireScope(caller: Caller, operation: string): void {
  const scope = operationScopes[operation];
  if (scope === null || (scope !== undefined && caller.scopes.has(scope))) return;
  const need = scope === undefined ? 'may not be called' : `needs a key with the scope ${scope}`;
  throw new DomainError('INSUFFICIENT_SCOPE', `${operation.split('.').at(-1) ?? operation} ${need}`);
}
