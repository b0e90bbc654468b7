import type { Arguments } from './calls.ts';
import type { RelationName } from './relations.ts';
import { type Setting, toolData } from './world.ts';

export interface Line {
  /** The relation that a caller needs. */
  readonly needs: RelationName;
  /** The status for an allowed caller, where the call cannot succeed. Default: a good one. */
  readonly reaches?: number;
  /** The code for a key without the scope of what `given` names, where that is as if it were missing. */
  readonly hidden?: string;
  /** Makes arguments of the root field that work for an allowed caller; made anew for each caller of what changes something, because it may use things up. */
  readonly given: (setting: Setting) => Arguments | Promise<Arguments>;
}

const line = (needs: RelationName, given: Line['given'] = () => ({})): Line => ({ needs, given });

/** An allowed caller gets 409. */
const conflict = (needs: RelationName, given: Line['given']): Line => ({ needs, given, reaches: 409 });

const ofAgent: Line['given'] = ({ agent }) => ({ agentId: agent });
const ofChat: Line['given'] = ({ chat }) => ({ chatId: chat });
const withInput =
  (input: Arguments): Line['given'] =>
  ({ agent }) => ({ agentId: agent, input });
const byId =
  (name: keyof Setting, input?: Arguments): Line['given'] =>
  (setting) => ({ id: setting[name], input });
const ofAgentById =
  (name: keyof Setting, input?: Arguments): Line['given'] =>
  (setting) => ({ agentId: setting.agent, id: setting[name], input });

const note = () => new Blob(['Hello'], { type: 'text/plain' });
/** A dataset of the agent by the name of its argument, and its case. */
const ofDataset =
  (member: 'id' | 'datasetId', more: (caseId: string) => Arguments = () => ({})): Line['given'] =>
  async ({ world, agent }) => {
    const { id, caseId } = await world.dataset(agent);
    return { [member]: id, ...more(caseId) };
  };
/** An experiment with the agent by the name of its argument. */
const ofExperiment =
  (member: 'id' | 'experimentId', more: Arguments = {}): Line['given'] =>
  async ({ world, agent }) => ({ [member]: await world.experiment(agent), ...more });
const asks = { prompt: { text: 'Hello' } };
const completionOf = (agent: string) => ({ model: agent, messages: [{ user: { text: 'Hello' } }] });
const responseOf = (agent: string) => ({ model: agent, input: { text: 'Hello' } });

/** A source that is read through a connection of the owner. */
function withConnection(kind: string, provider: string, members: Arguments): Line {
  return line('editsWithConnection', async ({ agent, world }) => ({
    agentId: agent,
    input: { [kind]: { connectionId: await world.connectionTo(provider), ...members } },
  }));
}
/** A row of REST for vector stores names a file or a batch in its store, by REST's ids. */
async function fileInStore({ world }: Setting): Promise<Arguments> {
  const { id, fileId } = await world.vectorStore();
  return { vectorStoreId: id, id: fileId };
}
async function batchInStore({ world }: Setting): Promise<Arguments> {
  const { id, batchId } = await world.fileBatch();
  return { vectorStoreId: id, id: batchId };
}
async function answers({ world, agent }: Setting): Promise<Arguments> {
  const { chat, message, call } = await world.awaiting(agent);
  return {
    chatId: chat,
    input: { systemMessageId: message, outputs: [{ toolCallId: call, status: 'SUCCESS', output: '{"celsius":12}' }] },
  };
}
async function newMessage({ world, agent }: Setting): Promise<Arguments> {
  return { chatId: await world.chat(agent), input: asks };
}

/** A message of a chat that is answered: the question, or the answer. */
function toMessage(which: 'question' | 'answer', input?: Arguments): Line['given'] {
  return async ({ world, agent }) => {
    const { chatId, [which]: id } = await world.exchange(agent);
    return { id, messageId: id, chatId, input };
  };
}

/**
 * Every operation and the relation that it needs. The matrix fails for an operation without a line. A REST route has a line of its own if it needs
 * less than its root field.
 */
export const table: Readonly<Record<string, Line>> = {
  'Query.viewer': line('anyone'),
  'Query.node': line('sees', byId('agent')),
  'Query.nodes': line('sees', ({ agent }) => ({ ids: [agent] })),

  // agents
  'Query.agent': line('sees', byId('agent')),
  'Query.agents': line('anyone'),
  'Mutation.createAgent': line('anyone', () => ({ input: { pictureUrl: '', name: 'Ada', description: '', instructions: '' } })),
  'Mutation.updateAgent': line('edits', byId('agent', { description: 'Changed' })),
  'Mutation.deleteAgent': line('manages', async ({ world, visibility, group }) => ({ id: await world.agent(visibility, group) })),
  'Mutation.approveAgent': line('approves', byId('agent', {})),
  'Mutation.rateAgent': line('sees', byId('agent', { rating: 4 })),
  'Mutation.generateAgentProfile': line('edits', byId('agent')),
  'Query.agentBundle': line('exports', ofAgent),
  'Mutation.importAgent': line('anyone', async ({ world }) => ({
    input: { bundle: await world.bundle(await world.agent('PRIVATE')), name: world.name('Imported') },
  })),
  'Query.agentCategories': line('anyone'),
  'Mutation.createAgentCategory': line('administersItsOwn', ({ world }) => ({ input: { name: world.name('Category') } })),
  'Mutation.renameAgentCategory': line('administersContent', ({ category, world }) => ({
    id: category,
    input: { name: world.name('Category') },
  })),
  'Mutation.deleteAgentCategory': line('administersContent', async ({ world }) => ({ id: await world.category() })),

  // versions of agents
  'Query.agentVersions': line('edits', ofAgent),
  'Query.agentVersion': line('edits', ({ agent }) => ({ agentId: agent, number: 1 })),
  'Query.agentVersionStatistics': line('edits', ofAgent),
  'Query.agentVersionContent': line('edits', ({ agent }) => ({ agentId: agent, version: '1' })),
  'Query.agentVersionDiff': line('edits', ({ agent }) => ({ agentId: agent, from: '1', to: 'draft' })),
  'Mutation.publishAgent': line('edits', async ({ world, visibility, group }) => ({
    id: await world.draft(await world.agent(visibility, group)),
  })),
  // Of an agent of its own: what others use would lose its parts.
  'Mutation.rollbackAgent': line('edits', async ({ world, visibility, group }) => ({
    ...{ id: await world.agent(visibility, group), version: 1 },
  })),
  'Mutation.discardAgentDraft': line('edits', async ({ world, visibility, group }) => ({
    id: await world.draft(await world.agent(visibility, group)),
  })),
  'Mutation.setAgentPublishing': line('edits', async ({ world, visibility, group }) => ({
    ...{ id: await world.agent(visibility, group), publishing: 'ON_REQUEST' },
  })),
  'Mutation.startCanary': line('edits', async ({ world, visibility, group }) => ({
    id: await world.draft(await world.agent(visibility, group)),
    percent: 10,
  })),
  'Mutation.endCanary': line('edits', async ({ world, visibility, group }) => ({
    id: await world.canary(await world.agent(visibility, group)),
    keep: 'PUBLISHED',
  })),

  // parts of agents
  'Query.agentTools': line('sees', ofAgent),
  'Query.agentTool': line('sees', ofAgentById('tool')),
  'Mutation.createAgentTool': line('edits', ({ agent, world }) => ({
    agentId: agent,
    input: { name: world.name('tool'), settings: { apiFunction: toolData } },
  })),
  'Mutation.updateAgentTool': line('edits', ofAgentById('tool', { settings: { apiFunction: toolData } })),
  'Mutation.deleteAgentTool': line('edits', async ({ agent, world }) => ({ agentId: agent, id: await world.tool(agent) })),
  'Query.agentToolTools': line('edits', async ({ agent, world }) => ({ id: await world.serverTool(agent) })),
  'Mutation.tryAgentTool': line('edits', byId('tool')),
  'Query.userInputs': line('sees', ofAgent),
  'Query.userInput': line('sees', ofAgentById('userInput')),
  'Mutation.createUserInput': line('edits', ({ agent, world }) => ({
    agentId: agent,
    input: { variableName: world.name('variable'), label: 'Which?', settings: { shortText: {} } },
  })),
  'Mutation.updateUserInput': line('edits', ofAgentById('userInput', { label: 'Which one?' })),
  'Mutation.deleteUserInput': line('edits', async ({ agent, world }) => ({ agentId: agent, id: await world.userInput(agent) })),
  'Query.skills': line('sees', ofAgent),
  'Query.skill': line('sees', ofAgentById('skill')),
  'Mutation.createSkill': line('edits', ({ agent, world }) => ({
    agentId: agent,
    input: { name: world.name('Skill'), content: 'Ask first.' },
  })),
  'Mutation.updateSkill': line('edits', ofAgentById('skill', { enabled: false })),
  'Mutation.deleteSkill': line('edits', async ({ agent, world }) => ({ agentId: agent, id: await world.skill(agent) })),
  'Query.flows': line('sees', ofAgent),
  'Query.flow': line('sees', ofAgentById('flow')),
  'Mutation.createFlow': line('edits', ({ agent, world }) => ({
    agentId: agent,
    input: { name: world.name('Flow'), enabled: false },
  })),
  'Mutation.updateFlow': line('edits', ofAgentById('flow', { enabled: false })),
  'Mutation.deleteFlow': line('edits', async ({ agent, world }) => ({ agentId: agent, id: await world.flow(agent) })),
  'Query.agentSecrets': line('edits', ofAgent),
  'Query.agentSecret': line('edits', ofAgentById('secret')),
  'Mutation.createAgentSecret': line('edits', ({ agent, world }) => ({
    agentId: agent,
    input: { key: world.name('KEY'), secretType: 'API_KEY', value: 'value-of-a-secret' },
  })),
  'Mutation.updateAgentSecret': line('edits', ofAgentById('secret', { value: 'another-value' })),
  'Mutation.deleteAgentSecret': line('edits', async ({ agent, world }) => ({ agentId: agent, id: await world.secret(agent) })),

  // completions, models
  'Query.models': line('anyone'),
  'Query.tools': line('anyone'),
  'Query.modelCatalog': line('anyone'),
  'Mutation.createCompletion': line('sees', ({ agent }) => ({ input: completionOf(agent) })),
  'Query.completionInputTokens': line('sees', ({ agent }) => ({ input: completionOf(agent) })),
  'Subscription.completionEvents': line('sees', ({ agent }) => ({ input: completionOf(agent) })),
  'POST /api/v1/messages': line('sees', ({ agent }) => ({
    inputOfRest: { model: agent, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  })),
  'POST /api/v1/ag-ui/{aiId}': line('sees', ({ agent }) => ({
    aiId: agent,
    inputOfRest: { threadId: 'thread-1', runId: 'run-1', messages: [{ id: 'message-1', role: 'user', content: 'Hello' }] },
  })),

  // The agent of a key that may neither read nor run agents is no model: the catalog leaves it out too.
  'Query.modelCatalogEntry': { ...line('sees', byId('agent')), hidden: 'MODEL_NOT_FOUND' },
  // The service of the matrix has no EMBEDDING_MODEL; that of the audit log calls it openai/embed.
  'Mutation.createEmbeddings': {
    ...line('anyone', () => ({ input: { model: 'openai/embed', content: { texts: ['Hello'] } } })),
    reaches: 400,
  },

  // conversations, files
  'Query.conversation': line('ownsResponse', byId('chat')),
  'Query.conversationItems': line('ownsResponse', byId('chat')),
  'Query.conversationItem': line('ownsResponse', ({ world }) => world.conversation()),
  'Mutation.createConversation': line('anyone', () => ({ input: { metadata: [{ name: 'topic', value: 'tea' }] } })),
  'Mutation.updateConversation': line('ownsResponse', byId('chat', { metadata: [{ name: 'topic', value: 'tea' }] })),
  'Mutation.deleteConversation': line('ownsResponse', async ({ world }) => ({ id: (await world.conversation()).id })),
  'Mutation.createConversationItems': line('ownsResponse', async ({ world }) => ({
    id: (await world.conversation()).id,
    input: { items: [{ message: { role: 'USER', content: { text: 'Hello' } } }] },
  })),
  'Mutation.deleteConversationItem': line('ownsResponse', ({ world }) => world.conversation()),
  'Query.file': line('ownsResponse', async ({ world }) => ({ id: await world.storedFile() })),
  'Query.files': line('anyone'),
  'Mutation.createFile': line('anyone', () => ({ file: note(), purpose: 'USER_DATA' })),
  'POST /api/v1/files': line('anyone', () => ({ file: note(), purpose: 'user_data' })),
  'Mutation.deleteFile': line('ownsResponse', async ({ world }) => ({ id: await world.storedFile() })),
  'Mutation.createFileUpload': line('anyone', () => ({
    input: { sizeBytes: 5, filename: 'note.txt', mimeType: 'text/plain', purpose: 'USER_DATA' },
  })),
  'POST /api/v1/uploads': line('anyone', () => ({
    inputOfRest: { bytes: 5, filename: 'note.txt', mime_type: 'text/plain', purpose: 'user_data' },
  })),
  'Query.fileUpload': line('ownsResponse', async ({ world }) => ({ id: (await world.upload()).id })),
  'Mutation.addFileUploadPart': line('ownsResponse', async ({ world }) => ({ id: (await world.upload()).id, data: note() })),
  'Mutation.completeFileUpload': line('ownsResponse', async ({ world }) => {
    const { id, partId } = await world.upload();
    return { id, input: { partIds: [partId] } };
  }),
  'Mutation.cancelFileUpload': line('ownsResponse', async ({ world }) => ({ id: (await world.upload()).id })),

  // chats
  'Query.chat': line('readsChat', byId('chat')),
  'Query.chats': line('sees', ofAgent),
  'Query.chatMessages': line('readsChat', ofChat),
  'GET /api/v1/chats': line('anyone'),
  'Mutation.createChat': line('sees', withInput({ name: 'Holidays' })),
  'Mutation.updateChat': line('writesChat', byId('chat', { name: 'Holidays' })),
  'Query.chatTags': line('anyone'),
  // Its results say which chats the caller may not change.
  'Mutation.changeChats': line('anyone', ({ chat }) => ({ input: { chatIds: [chat], isArchived: false } })),
  'Query.binnedChats': line('anyone'),
  'Mutation.restoreChats': line('anyone', ({ chat }) => ({ input: { chatIds: [chat] } })),
  'Mutation.deleteBinnedChats': line('anyone', ({ chat }) => ({ input: { chatIds: [chat] } })),
  'Mutation.deleteChat': line('writesChat', async ({ agent, world }) => ({ id: await world.chat(agent) })),
  'Mutation.duplicateChat': line('writesChat', byId('chat')),
  'Mutation.resetChat': line('writesChat', async ({ agent, world }) => ({ id: await world.chat(agent) })),
  'Mutation.summarizeChat': line('writesChat', byId('chat')),
  'Mutation.compressChat': line('writesChat', byId('chat')),
  'Mutation.emptyChatContext': line('writesChat', byId('chat')),
  'Mutation.restoreChatContext': conflict('writesChat', async ({ agent, world }) => ({ id: await world.chat(agent) })),
  'Query.chatExport': line('readsChat', ofChat),
  'Query.chatTree': line('readsChat', ofChat),
  'Query.chatImport': line('ownsMemory', async ({ world }) => ({ id: await world.chatImport() })),
  'Query.chatImports': line('anyone'),
  'Mutation.importChats': line('sees', ({ agent }) => ({ agentId: agent, file: note() })),
  'Mutation.cancelChatImport': line('ownsMemory', async ({ world }) => ({ id: await world.chatImport('READING') })),
  'Mutation.undoChatImport': line('ownsMemory', async ({ world }) => ({ id: await world.chatImport() })),
  'Mutation.markChatRead': line('readsChat', byId('chat')),
  'Mutation.editMessage': line('writesChat', toMessage('question', { prompt: { text: 'Hello' } })),
  'Mutation.regenerateMessage': line('writesChat', toMessage('answer', {})),
  'Mutation.compareAnswers': line('writesChat', toMessage('answer', {})),
  'Mutation.editQueuedMessage': conflict('writesChat', async (setting) => ({
    ...(await toMessage('question')(setting)),
    text: 'Hello',
  })),
  'Mutation.withdrawQueuedMessage': conflict('writesChat', toMessage('question')),
  'Mutation.selectBranch': line('writesChat', toMessage('question')),
  'Mutation.rateMessage': line('writesChat', toMessage('answer', { rating: 'UP' })),
  'Query.feedback': line('sees', ofAgent),
  'Subscription.editedMessageEvents': line('writesChat', toMessage('question', { prompt: { text: 'Hello' } })),
  'Subscription.regeneratedMessageEvents': line('writesChat', toMessage('answer', {})),
  'Query.chatShare': line('administersOwners', async ({ world, chat }) => ({ id: (await world.share(chat)).id })),
  'Query.chatShares': line('anyone'),
  'Mutation.shareChat': line('writesChat', toMessage('answer', { audience: 'ORGANIZATION' })),
  'Mutation.revokeChatShare': line('administersOwners', async ({ world, chat }) => ({ id: (await world.share(chat)).id })),
  'Query.sharedChat': line('opensSharedChat', async ({ world, chat }) => ({ secret: (await world.share(chat)).secret })),
  'Subscription.sharedChatUpdated': line('opensSharedChat', async ({ world, chat }) => ({
    secret: (await world.share(chat)).secret,
  })),
  'Mutation.copySharedChat': line('goesOnWithSharedChat', async ({ world, chat }) => ({
    secret: (await world.share(chat)).secret,
  })),
  'Query.agentGrants': line('sees', ofAgent),
  'Query.grants': line('anyone'),
  'Mutation.putAgentGrants': line('sees', ({ agent }) => ({ agentId: agent, input: { memories: 'READ' } })),
  'Mutation.deleteAgentGrants': line('sees', ofAgent),
  'Query.webhook': line('administersWhereItActs', async ({ world }) => ({ id: (await world.webhook()).id })),
  'Query.webhooks': line('administersItsOwn'),
  'Mutation.createWebhook': line('administersItsOwn', () => ({
    input: { url: 'https://hooks.invalid/', events: ['SOURCE_FAILED'] },
  })),
  'Mutation.updateWebhook': line('administersWhereItActs', async ({ world }) => ({
    id: (await world.webhook()).id,
    input: { description: 'Runs' },
  })),
  'Mutation.deleteWebhook': line('administersWhereItActs', async ({ world }) => ({ id: (await world.webhook()).id })),
  'Mutation.rotateWebhookSecret': line('administersWhereItActs', async ({ world }) => ({ id: (await world.webhook()).id })),
  'Mutation.testWebhook': line('administersWhereItActs', async ({ world }) => ({ id: (await world.webhook()).id })),
  'Mutation.redeliverWebhook': line('administersWhereItActs', async ({ world }) => ({
    deliveryId: (await world.webhook()).deliveryId,
  })),
  'Query.budget': line('administersWhereItActs', async ({ world }) => ({ id: await world.budget() })),
  'Query.budgets': line('administersItsOwn'),
  'Query.ownBudgets': line('anyone'),
  'Mutation.setBudget': line('administersItsOwn', () => ({
    input: { subject: 'ORGANIZATION', period: 'MONTH', unit: 'TOKENS', limit: 1_000_000_000 },
  })),
  'Mutation.deleteBudget': line('administersWhereItActs', async ({ world }) => ({ id: await world.budget() })),
  'Query.savedDocument': line('actsInOrganization', async ({ world }) => ({ id: await world.savedDocument() })),
  'Query.savedDocuments': line('anyone'),
  'Mutation.saveDocument': line('administersItsOwn', () => ({
    input: { name: 'saved', description: 'Who calls.', document: '{ viewer { keyId } }' },
  })),
  'Mutation.deleteSavedDocument': line('administersWhereItActs', async ({ world }) => ({ id: await world.savedDocument() })),
  'Mutation.setOrganizationTimeZone': line('administersItsOwn', () => ({ input: { timeZone: 'UTC' } })),
  'Query.schedule': line('administersOwners', async ({ world, agent }) => ({ id: await world.schedule(agent) })),
  'Query.schedules': line('anyone'),
  'Mutation.createSchedule': line('usesAsPerson', ({ agent }) => ({
    input: { name: 'News', agentId: agent, prompt: 'Hello', cron: '0 0 1 1 *', timeZone: 'UTC' },
  })),
  'Mutation.updateSchedule': line('administersOwners', async ({ world, agent }) => ({
    id: await world.schedule(agent),
    input: { isEnabled: false },
  })),
  'Mutation.deleteSchedule': line('administersOwners', async ({ world, agent }) => ({ id: await world.schedule(agent) })),
  'Mutation.runScheduleNow': line('isOwner', async ({ world, agent }) => ({ id: await world.schedule(agent) })),
  'Query.project': line('seesProject', async ({ world }) => ({ id: await world.project() })),
  'Query.projects': line('anyone'),
  'Mutation.createProject': line('anyone', ({ world }) => ({ input: { name: world.name('Project') } })),
  'Mutation.updateProject': line('changesProject', async ({ world }) => ({
    id: await world.project(),
    input: { instructions: 'Be brief.' },
  })),
  'Mutation.deleteProject': line('changesProject', async ({ world }) => ({ id: await world.project() })),
  'Query.dataset': line('edits', ofDataset('id')),
  'Query.datasets': line('edits', ofAgent),
  'Query.datasetCases': line('edits', ofDataset('datasetId')),
  'Query.datasetExport': line(
    'edits',
    ofDataset('datasetId', () => ({ format: 'JSONL' })),
  ),
  'Mutation.createDataset': line('edits', withInput({ name: 'Cases' })),
  'Mutation.updateDataset': line(
    'edits',
    ofDataset('id', () => ({ input: { description: 'Changed' } })),
  ),
  // With words of a person, which a legal hold keeps.
  'Mutation.deleteDataset': line('edits', async ({ world, agent }) => ({ id: await world.datasetOfWords(agent) })),
  'Mutation.addDatasetCases': line(
    'edits',
    ofDataset('datasetId', () => ({ cases: [{ question: 'Why?' }] })),
  ),
  'Mutation.updateDatasetCase': line(
    'edits',
    ofDataset('datasetId', (caseId) => ({ caseId, input: { question: 'Why?' } })),
  ),
  'Mutation.agreeToDatasetCases': line(
    'edits',
    ofDataset('datasetId', (caseId) => ({ caseIds: [caseId] })),
  ),
  'Mutation.removeDatasetCases': line(
    'edits',
    ofDataset('datasetId', (caseId) => ({ caseIds: [caseId] })),
  ),
  'Mutation.importDatasetCases': line(
    'edits',
    ofDataset('datasetId', () => ({ input: { format: 'JSONL', content: '{"question":"Why?"}' } })),
  ),
  'Mutation.addRunsToDataset': line('edits', async ({ world, agent }) => {
    const { chatId } = await world.exchange(agent);
    const [run] = (
      await world.owner.graphql('query ($id: ID!) { chat(id: $id) { messages(first: 1) { nodes { runId } } } }', { id: chatId })
    ).data.chat.messages.nodes;
    return { datasetId: (await world.dataset(agent)).id, runIds: [run.runId] };
  }),
  'Mutation.draftDatasetCases': {
    ...line(
      'edits',
      ofDataset('datasetId', () => ({ itemIds: ['ki_x'], count: 1 })),
    ),
    reaches: 404,
  },
  'Query.agentGuard': line('edits', ofAgent),
  'Mutation.setAgentGuard': line('edits', ({ agent }) => ({ agentId: agent, input: { kinds: ['EMAIL'] } })),
  'Query.organizationGuard': line('anyone'),
  'Mutation.setOrganizationGuard': line('administersItsOwn', () => ({ input: { kinds: ['EMAIL'] } })),
  'Query.guardCounts': line('administersItsOwn', () => ({ since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' })),
  'Query.agentGate': { ...line('edits', ofAgent), reaches: 404 },
  'Mutation.setAgentGate': conflict('manages', async ({ world, agent }) => {
    const { id } = await world.dataset(agent);
    return { agentId: agent, input: { datasetId: id, mustTag: 'must', tokensMax: 1_000 } };
  }),
  'Mutation.removeAgentGate': { ...line('manages', ofAgent), reaches: 404 },
  'Mutation.checkAgentGate': { ...line('edits', ofAgent), reaches: 404 },
  'Query.experiment': line('edits', ofExperiment('id')),
  'Query.experiments': line('edits', ofAgent),
  'Query.experimentPairs': line('edits', ofExperiment('experimentId')),
  'Query.experimentReport': line('edits', ofExperiment('id', { format: 'CSV' })),
  'Mutation.runExperiment': {
    ...line('edits', async ({ world, agent }) => {
      const { id } = await world.dataset(agent);
      return { agentId: agent, input: { versions: ['draft'], datasetId: id, tokensMax: 1 } };
    }),
    reaches: 400,
  },
  'Mutation.cancelExperiment': line('edits', ofExperiment('id')),
  'Mutation.resumeExperiment': line('edits', async ({ world, agent }) => ({ id: await world.experiment(agent, 'STOPPED') })),
  'Subscription.experimentUpdated': line('edits', ofExperiment('id')),
  'Query.prompt': line('ownsMemory', async ({ world }) => ({ id: await world.prompt() })),
  'Query.prompts': line('anyone'),
  'Query.filledPrompt': line('ownsMemory', async ({ world }) => ({ id: await world.prompt(), values: [] })),
  'Mutation.createPrompt': line('anyone', ({ world }) => ({
    input: { name: 'News', command: world.command(), text: 'What is new?' },
  })),
  'Mutation.updatePrompt': line('ownsMemory', async ({ world }) => ({ id: await world.prompt(), input: { name: 'Old news' } })),
  'Mutation.deletePrompt': line('ownsMemory', async ({ world }) => ({ id: await world.prompt() })),
  'Query.memory': line('ownsMemory', async ({ world }) => ({ id: await world.memory() })),
  'Query.memories': line('anyone'),
  'Mutation.createMemory': line('anyone', () => ({ input: { text: 'Likes tea' } })),
  'Mutation.updateMemory': line('ownsMemory', async ({ world }) => ({
    id: await world.memory(),
    input: { text: 'Likes coffee' },
  })),
  'Mutation.deleteMemory': line('ownsMemory', async ({ world }) => ({ id: await world.memory() })),
  'Mutation.deleteMemories': line('anyone'),
  'Query.chatFile': line('readsChat', ({ chat, file }) => ({ chatId: chat, fileId: file })),
  'Mutation.uploadChatFile': line('writesChat', ({ chat }) => ({ chatId: chat, file: note() })),
  'Mutation.createChatFileRecord': line('writesChat', ({ chat }) => ({
    chatId: chat,
    input: { filename: 'note.txt', size: 5, mimeType: 'text/plain' },
  })),
  'Mutation.putChatFileContent': line('writesChat', async ({ chat, world }) => ({
    chatId: chat,
    fileId: await world.fileRecord(chat),
    file: note(),
  })),
  'Mutation.deleteChatFile': line('writesChat', async ({ chat, world }) => ({ chatId: chat, fileId: await world.file(chat) })),
  'Subscription.chatUpdated': line('readsChat', ofChat),

  // runs
  'Query.run': line('readsChat', byId('run')),
  'Query.runs': line('anyone'),
  'Query.runStatistics': line('anyone', () => ({ by: 'DAY' })),
  'Query.unansweredQuestions': line('anyone'),
  'Query.runTrace': line('readsChat', ({ run }) => ({ runId: run })),
  'Mutation.sendMessage': line('writesChat', newMessage),
  'Mutation.submitToolOutputs': line('writesChat', answers),
  'Mutation.cancelRun': line('stopsRun', ({ chat, run }) => ({ id: run, chatId: chat })),
  'Query.runTags': line('anyone'),
  'Query.savedRunFilters': line('anyone'),
  'Mutation.setRunTags': line('readsChat', ({ run }) => ({ id: run, tags: ['slow'] })),
  'Mutation.saveRunFilter': line('anyone', () => ({ input: { name: 'Slow ones', query: 'status=FAILED' } })),
  'Mutation.deleteRunFilter': line('ownsMemory', async ({ world }) => ({ id: await world.runFilter() })),
  'Mutation.retryRun': conflict('writesChat', ({ chat, run }) => ({ id: run, chatId: chat })),
  'Subscription.runEvents': line('readsChat', ({ chat, run }) => ({ runId: run, chatId: chat })),
  'Subscription.messageEvents': line('writesChat', newMessage),
  'Subscription.toolOutputEvents': line('writesChat', answers),

  // responses
  'Query.response': line('ownsResponse', byId('response')),
  'Query.responseInputItems': line('ownsResponse', byId('response')),
  'Query.activeRuns': line('anyone'),
  'Mutation.createResponse': line('sees', ({ agent }) => ({ input: responseOf(agent) })),
  'Query.responseInputTokens': line('sees', ({ agent }) => ({ input: responseOf(agent) })),
  'Mutation.compactResponse': line('sees', ({ agent }) => ({ input: responseOf(agent) })),
  'Mutation.cancelResponse': line('ownsResponse', byId('response')),
  'Mutation.pauseResponse': conflict('ownsResponse', byId('response')),
  'Mutation.resumeResponse': conflict('ownsResponse', byId('response')),
  'Mutation.deleteResponse': line('ownsResponse', async ({ agent, world }) => ({ id: await world.response(agent) })),
  'Subscription.newResponseEvents': line('sees', ({ agent }) => ({ input: responseOf(agent) })),
  'Subscription.resumedResponseEvents': conflict('ownsResponse', byId('response')),

  // data sources
  'Query.dataSource': line('readsSource', byId('source')),
  'Query.dataSources': line('anyone'),
  'GET /api/v1/ais/{aiId}/data-sources': line('sees', ({ agent }) => ({ aiId: agent })),
  'Query.indexingStatistics': line('readsSource', ({ source }) => ({ dataSourceId: source })),
  'Query.knowledgeItem': line('readsSource', byId('item')),
  'GET /api/v1/data-sources/{dataSourceId}/knowledge/{knowledgeId}/content': line('opensSource', ({ source, item }) => ({
    dataSourceId: source,
    id: item,
  })),
  'Query.citedDocument': line('opensSource', byId('item')),
  'Query.search': line('anyone', () => ({ query: 'Made by a test' })),
  'Query.searchKnowledge': line('sees', ({ agent }) => ({ input: { agentId: agent, query: 'hours' } })),
  'Query.unidentifiedPeople': conflict('administersSource', ({ source }) => ({ dataSourceId: source })),
  'Query.openDocuments': conflict('administersSource', ({ source, user }) => ({ dataSourceId: source, userId: user })),
  'Query.sourceIdentities': line('anyone'),
  'Query.knowledgeItems': line('readsSource', ({ source }) => ({ dataSourceId: source })),
  'Mutation.addDataSource': line('edits', withInput({ api: { name: 'Hours', data: { monday: '9 to 17' } } })),
  'Mutation.addFileDataSource': line('edits', ({ agent }) => ({ agentId: agent, file: note() })),
  'POST /api/v1/ais/{aiId}/data-sources/web-url': line(
    'edits',
    withInput({ webUrl: { url: 'https://example.com', refreshPeriod: 'NEVER', includeFiles: false, includedFileTypes: [] } }),
  ),
  'Mutation.createUploadToken': line('edits', withInput({ filename: 'note.txt', mimeType: 'text/plain', sizeBytes: 5 })),
  'Mutation.uploadDataSource': line('holdsLink', async ({ agent, world }) => ({
    agentId: agent,
    file: note(),
    ...(await world.uploadLink(agent)),
  })),
  'Mutation.attachDataSource': line('attaches', ({ agent, source }) => ({ agentId: agent, input: { dataSourceId: source } })),
  'Mutation.detachDataSource': line('edits', async ({ agent, world }) => ({
    agentId: agent,
    dataSourceId: await world.source(agent),
  })),
  'Mutation.updateDataSource': line('changesSource', byId('source', { refreshPeriod: 'DAILY' })),
  'Mutation.deleteDataSource': line('changesSource', async ({ agent, world }) => ({ id: await world.source(agent) })),
  'Mutation.bulkDeleteDataSources': line('manages', async ({ agent, world }) => ({
    agentId: agent,
    input: { dataSourceIds: [await world.source(agent)] },
  })),
  'Mutation.refreshDataSource': line('changesSource', byId('source')),
  'Mutation.cancelDataSource': line('changesSource', byId('source')),
  'Mutation.retryDataSource': line('changesSource', byId('source')),
  'Mutation.pushItems': line('changesSource', async ({ agent, world }) => ({
    dataSourceId: await world.mirroredSource(agent),
    input: { items: [{ uniqueId: 'handbook', text: 'Thirty days.', acl: ['anyone_in_organization'] }] },
  })),
  'Mutation.putPrincipals': line('changesSource', async ({ agent, world }) => ({
    dataSourceId: await world.mirroredSource(agent),
    input: { groups: [{ key: 'staff', members: ['user:ann@example.org'] }] },
  })),
  'Query.dataSourceRun': line('readsSource', async ({ source, world }) => ({ id: await world.sourceRun(source) })),
  'Query.dataSourceRuns': line('readsSource', ({ source }) => ({ dataSourceId: source })),
  'Mutation.updateKnowledgeItem': line('changesSource', ({ source, item }) => ({
    dataSourceId: source,
    id: item,
    input: { cite: true },
  })),
  'Query.vectorStores': line('anyone'),
  'Query.vectorStore': line('administersOwners', async ({ world }) => ({ id: (await world.vectorStore()).id })),
  'Query.vectorStoreSearch': line('administersOwners', async ({ world }) => ({
    id: (await world.vectorStore()).id,
    input: { queries: ['Hello'] },
  })),
  'POST /api/v1/vector_stores/{vectorStoreId}/search': line('administersOwners', async ({ world }) => ({
    id: (await world.vectorStore()).id,
    inputOfRest: { query: 'Hello' },
  })),
  'Query.vectorStoreFiles': line('administersOwners', async ({ world }) => ({
    vectorStoreId: (await world.vectorStore()).id,
  })),
  'Query.vectorStoreFile': line('administersOwners', async ({ world }) => ({ id: await world.vectorStoreFile() })),
  'GET /api/v1/vector_stores/{vectorStoreId}/files/{fileId}': line('administersOwners', fileInStore),
  'GET /api/v1/vector_stores/{vectorStoreId}/files/{fileId}/content': line('administersOwners', fileInStore),
  'Query.vectorStoreFileBatch': line('administersOwners', async ({ world }) => ({ id: (await world.fileBatch()).batchId })),
  'GET /api/v1/vector_stores/{vectorStoreId}/file_batches/{batchId}': line('administersOwners', batchInStore),
  'GET /api/v1/vector_stores/{vectorStoreId}/file_batches/{batchId}/files': line('administersOwners', async ({ world }) => {
    const { id, batchId } = await world.fileBatch();
    return { vectorStoreId: id, batchId };
  }),
  'Mutation.createVectorStoreFileBatch': line('changesStoreWithFile', async ({ world }) => ({
    vectorStoreId: (await world.vectorStore()).id,
    input: { files: [{ fileId: await world.storedFile() }] },
  })),
  'POST /api/v1/vector_stores/{vectorStoreId}/file_batches': line('changesStoreWithFile', async ({ world }) => ({
    vectorStoreId: (await world.vectorStore()).id,
    inputOfRest: { file_ids: [await world.storedFile()] },
  })),
  'Mutation.cancelVectorStoreFileBatch': line('administersOwners', async ({ world }) => ({
    id: (await world.fileBatch()).batchId,
  })),
  'POST /api/v1/vector_stores/{vectorStoreId}/file_batches/{batchId}/cancel': line('administersOwners', batchInStore),
  'Mutation.createVectorStore': line('anyone', () => ({ input: { name: 'Office' } })),
  'Mutation.updateVectorStore': line('administersOwners', async ({ world }) => ({
    id: (await world.vectorStore()).id,
    input: { name: 'House' },
  })),
  'Mutation.deleteVectorStore': line('administersOwners', async ({ world }) => ({ id: (await world.vectorStore()).id })),
  'Mutation.attachVectorStoreFile': line('changesStoreWithFile', async ({ world }) => ({
    vectorStoreId: (await world.vectorStore()).id,
    input: { fileId: await world.storedFile() },
  })),
  'POST /api/v1/vector_stores/{vectorStoreId}/files': line('changesStoreWithFile', async ({ world }) => ({
    vectorStoreId: (await world.vectorStore()).id,
    input: { fileId: await world.storedFile() },
  })),
  'Mutation.updateVectorStoreFile': line('administersOwners', async ({ world }) => ({
    id: await world.vectorStoreFile(),
    input: { attributes: [{ key: 'year', value: 2026 }] },
  })),
  'POST /api/v1/vector_stores/{vectorStoreId}/files/{fileId}': line('administersOwners', async (setting) => ({
    ...(await fileInStore(setting)),
    input: { attributes: [{ key: 'year', value: 2026 }] },
  })),
  'Mutation.detachVectorStoreFile': line('administersOwners', async ({ world }) => ({ id: await world.vectorStoreFile() })),
  'DELETE /api/v1/vector_stores/{vectorStoreId}/files/{fileId}': line('administersOwners', fileInStore),
  'Subscription.dataSourceUpdated': line('readsSource', ({ source }) => ({ dataSourceId: source })),

  // sources of connected kinds
  'POST /api/v1/ais/{aiId}/data-sources/drive-a': withConnection('driveA', 'DRIVE_A', {
    files: [{ id: '1AbC', name: 'Handbook' }],
  }),
  'POST /api/v1/ais/{aiId}/data-sources/drive-b': withConnection('driveB', 'DRIVE_B', { fileId: '1AbC', filename: 'Handbook' }),
  'POST /api/v1/ais/{aiId}/data-sources/wiki': withConnection('wiki', 'WIKI', { pageName: 'Handbook' }),
  'POST /api/v1/ais/{aiId}/data-sources/tracker': withConnection('tracker', 'TRACKER', {
    projectName: 'Help desk',
    projectKey: 'HELP',
  }),
  'POST /api/v1/ais/{aiId}/data-sources/repo-host': line('editsWithConnection', async ({ agent, world }) => ({
    agentId: agent,
    inputOfRest: { mode: 'all', repoHostAppInstallationId: await world.installation() },
  })),

  // connections
  'Query.connection': line('administersOwners', byId('connection')),
  'Query.connections': line('anyone'),
  // What allowed callers get without another service: an MCP server has nothing to browse, and this instance is registered nowhere.
  'Query.connectionEntries': {
    ...line('isOwner', async ({ world }) => ({ connectionId: await world.mcpServer() })),
    reaches: 400,
  },
  'Mutation.authorizeConnection': { ...line('anyone', () => ({ input: { provider: 'DRIVE_A' } })), reaches: 400 },
  'Mutation.storeOauthToken': line('anyone', () => ({
    input: { provider: 'WIKI', accountName: 'ann', accessToken: 'token-of-the-wiki' },
  })),
  'Mutation.storeRepoHostInstallation': line('isInstance', ({ world }) => ({
    input: { installationId: world.number(), accountName: 'ann' },
  })),
  'Mutation.storeMcpServer': line('anyone', () => ({ input: { name: 'Weather', url: 'https://mcp.example.com/mcp' } })),
  'Query.mcpOauthClient': line('administersWhereItActs', async ({ world }) => ({ id: await world.mcpOauthClient() })),
  'Query.mcpOauthClients': line('administersItsOwn'),
  'Mutation.saveMcpOauthClient': {
    ...line('administersItsOwn', () => ({ input: { url: 'http://127.0.0.1:1/mcp', clientId: 'parley' } })),
    reaches: 400,
  },
  'Mutation.deleteMcpOauthClient': line('administersWhereItActs', async ({ world }) => ({ id: await world.mcpOauthClient() })),
  'Mutation.updateConnection': line('isOwner', byId('connection', { accountName: 'bob', accessToken: 'another' })),
  'Mutation.deleteConnection': line('administersOwners', async ({ world }) => ({ id: await world.connection() })),

  // administration, usage
  'Query.installation': line('isInstance'),
  'Mutation.testModel': line('isInstance', () => ({ id: 'parley/offline' })),
  'Query.tenant': line('isInstance', ({ world }) => ({ id: world.home.tenantId })),
  'Query.tenants': line('isInstance'),
  'Mutation.createTenant': line('isInstance', ({ world }) => ({ input: { name: world.name('Tenant') } })),
  'Mutation.updateTenant': line('isInstance', async ({ world }) => ({ id: await world.tenant(), input: { name: 'Group' } })),
  'Mutation.deleteTenant': line('isInstance', async ({ world }) => ({ id: await world.tenant() })),
  'Query.organization': line('administersOrganization', ({ world }) => ({ id: world.home.id })),
  'Query.organizations': line('administersItsOwn'),
  'Mutation.createOrganization': line('isAboveOrganizations', ({ world }) => ({ input: { name: world.name('Organization') } })),
  'Mutation.updateOrganization': line('administersFromAbove', ({ world }) => ({
    id: world.home.id,
    input: { name: 'Research' },
  })),
  'Mutation.deleteOrganization': line('administersTenant', async ({ world }) => ({ id: await world.organization() })),
  'Query.user': line('administersOrganization', byId('user')),
  'Query.users': line('administersItsOwn'),
  'Mutation.createUser': line('administersOrganization', ({ world }) => ({
    input: { email: `${world.name('new')}@example.com`, orgId: world.home.id },
  })),
  'Mutation.updateUser': line('administersOrganization', byId('user', { name: 'Ann' })),
  'Mutation.deleteUser': line('administersFromAbove', async ({ world }) => ({ id: await world.user() })),
  'Mutation.deactivateUser': line('administersOrganization', async ({ world }) => ({
    id: await world.user(),
    orgId: world.home.id,
  })),
  'Mutation.reactivateUser': line('administersOrganization', async ({ world }) => ({
    id: await world.deactivatedUser(),
    orgId: world.home.id,
  })),
  'Mutation.setOperator': line('isInstance', async ({ world }) => ({ id: await world.user(), isOperator: true })),
  'Query.membership': line('administersOrganization', byId('membership')),
  'Query.memberships': line('administersItsOwn'),
  'Mutation.createMembership': line('administersTenant', async ({ world }) => ({
    input: { orgId: world.home.id, userId: await world.user(world.sister) },
  })),
  'Mutation.updateMembership': line('administersOrganization', byId('membership', { role: 'MEMBER' })),
  'Mutation.deleteMembership': line('administersOrganization', async ({ world }) => ({ id: await world.membership() })),
  'Query.auditLog': line('administersOrganization', ({ world }) => ({ filter: { orgId: world.home.id } })),
  'Mutation.updateDataRetention': line('administersOrganization', ({ world }) => ({
    input: { orgId: world.home.id, chatDays: 36_500 },
  })),
  'Query.dataExports': line('anyone'),
  'Mutation.exportPersonData': line('anyone', () => ({ input: {} })),
  'Mutation.exportOrganizationData': line('administersOrganization', ({ world }) => ({ orgId: world.home.id })),
  'Mutation.deleteDataExport': line('administersOwners', async ({ world }) => ({ id: await world.dataExport() })),
  'Query.erasures': line('administersOrganization', ({ world }) => ({ orgId: world.home.id })),
  'Mutation.erasePerson': line('administersOrganization', async ({ world }) => ({
    input: { orgId: world.home.id, userId: await world.user(), transferToUserId: world.owner.userId },
  })),
  'Query.legalHolds': line('administersOrganization', ({ world }) => ({ filter: { orgId: world.home.id } })),
  'Mutation.setLegalHold': line('administersOrganization', async ({ world }) => ({
    input: { orgId: world.home.id, userId: await world.user(), reason: 'A claim' },
  })),
  'Mutation.endLegalHold': line('administersOrganization', async ({ world }) => ({ id: await world.hold() })),
  'Query.usage': line('anyone'),
  'Query.usageDays': line('sees', ofAgent),
  'Subscription.usageChanged': line('anyone'),

  // lists that are live
  'Subscription.agentsChanged': line('anyone'),
  'Subscription.chatsChanged': line('sees', ofAgent),
  'Subscription.messagesChanged': line('readsChat', ofChat),
  'Subscription.dataSourcesChanged': line('anyone'),
  'Subscription.runsChanged': line('anyone'),
  'Subscription.memoriesChanged': line('anyone'),
  'Subscription.chatImportsChanged': line('anyone'),
  'Subscription.connectionsChanged': line('anyone'),
  'Subscription.apiKeysChanged': line('anyone'),
  'Subscription.peopleChanged': line('administersItsOwn'),

  'Mutation.transferOwnership': line('manages', async ({ world, visibility, group }) => ({
    input: { agentId: await world.agent(visibility, group) },
    toUserId: world.member.userId,
  })),

  // keys, groups
  'Query.apiKeys': line('anyone'),
  'Mutation.createApiKey': line('anyone', () => ({ input: { name: 'Report', scopes: ['API_KEYS_WRITE'] } })),
  'Mutation.revokeApiKey': line('administersOwnersKeys', async ({ world }) => ({ id: await world.key() })),
  'Mutation.createSignInLink': line('administersOrganization', async ({ world }) => ({
    input: { email: (await world.make.person({ organization: world.home })).email, orgId: world.home.id },
  })),
  'Query.invitations': line('administersItsOwn'),
  'Mutation.invite': line('administersOrganization', ({ world }) => ({
    input: { email: `${world.name('invited')}@example.com`.toLowerCase().replaceAll(' ', '-'), orgId: world.home.id },
  })),
  'Mutation.revokeInvitation': line('administersOrganization', async ({ world }) => ({ id: await world.invitation() })),
  'Mutation.endSession': line('ownsMemory', async ({ world }) => ({ id: await world.session() })),
  'Mutation.endOtherSessions': line('anyone'),
  // In a session only: a key adds no passkey and sets no password.
  'Mutation.beginPasskey': { needs: 'anyone', reaches: 403, given: () => ({}) },
  'Mutation.addPasskey': { needs: 'anyone', reaches: 403, given: () => ({ input: { name: 'Laptop', response: '{}' } }) },
  'Mutation.renamePasskey': line('ownsMemory', async ({ world }) => ({ id: await world.passkey(), input: { name: 'Laptop' } })),
  'Mutation.deletePasskey': line('ownsMemory', async ({ world }) => ({ id: await world.passkey() })),
  'Mutation.setPassword': { needs: 'anyone', reaches: 403, given: () => ({ input: { new: 'correct horse battery' } }) },
  'Mutation.unlinkIdentity': line('administersOrganization', async ({ world }) => ({ id: await world.identity() })),
  'Query.group': line('seesGroup', byId('group')),
  'Query.groups': line('anyone'),
  'Query.myGroups': line('anyone'),
  'Mutation.createGroup': line('anyone', () => ({ input: { name: 'Writers', availability: 'EVERYONE', memberEmails: [] } })),
  'Mutation.updateGroup': line('changesGroup', byId('group', { name: 'Readers' })),
  'Mutation.deleteGroup': line('changesGroup', async ({ world }) => ({ id: await world.group() })),
};
