import { expect } from 'vitest';
import type { RunEvent, RunEventBody, RunItem, RunSnapshot, Subagent } from '../../../src/entities/conversations/runs/event.ts';
import type { RunStep } from '../../../src/entities/conversations/runs/step.ts';
import type { Citation } from '../../../src/entities/knowledge/citation.ts';
import { hashSecret } from '../../../src/entities/people/api-key.ts';
import { makeSignInSecret } from '../../../src/entities/people/session.ts';
import { indexed } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import type { TestBench } from '../../support/service.ts';
import { type Setting, toolData, type World } from './world.ts';

/** Texts that stand in one place of the world each, none within another: a walk that shows one of them was shown that place. */
export const canaries = {
  instructions: 'canary-instructions',
  skill: 'canary-skill',
  flow: 'canary-flow',
  tool: 'canary-tool',
  secret: 'canary-secret',
  token: 'canary-token',
  agentName: 'canary-agent-name',
  sharedInstructions: 'canary-shared-instructions',
  sharedSkill: 'canary-shared-skill',
  sharedTool: 'canary-shared-tool',
  sharedFlow: 'canary-shared-flow',
  sharedSecret: 'canary-shared-secret',
  sharedName: 'canary-shared-name',
  question: 'canary-question',
  answer: 'canary-answer',
  chatName: 'canary-chat-name',
  chatFile: 'canary-chat-file',
  reasoning: 'canary-reasoning',
  toolOutput: 'canary-output-of-a-tool',
  hiddenOutput: 'canary-hidden-output',
  confidentialOutput: 'canary-confidential-output',
  request: 'canary-request',
  conversation: 'canary-conversation',
  memory: 'canary-memory',
  chatImport: 'canary-chat-import',
  prompt: 'canary-prompt',
  schedule: 'canary-schedule-prompt',
  comment: 'canary-comment',
  source: 'canary-source',
  passage: 'canary-passage',
  webSource: 'canary-web-source',
  vectorStore: 'canary-vector-store',
  storedFile: 'canary-stored-file',
  group: 'canary-group',
  invited: 'canary-invited@example.com',
  keyName: 'canary-key-name',
  connection: 'canary-connection',
  category: 'canary-category',
} as const;
export type Canary = keyof typeof canaries;

/** What look-ups of the walk name. */
export interface Walked extends Setting {
  readonly conversation: string;
  /** Runs whose logs have events of every type. */
  readonly runs: readonly string[];
  /** With one file, which is indexed. */
  readonly vectorStore: string;
}

/**
 * Makes a world in which every type of the schema has a value that a person of it owns: an agent that nobody but its editors sees, one that the whole
 * organization uses, and what they lead to.
 */
export async function makeWalked(world: World, { service, upstream }: Pick<TestBench, 'service' | 'upstream'>): Promise<Walked> {
  const { owner } = world;
  const made = new Maker(world, service, upstream);
  const group = await made.id('/api/v1/groups', {
    ...{ name: canaries.group, availability: 'RESTRICTED', memberEmails: `${world.member.email},${canaries.invited}` },
  });
  const shared = await made.agent(canaries.sharedName, canaries.sharedInstructions, { visibility: 'ORGANIZATION' });
  const agent = await made.agent(canaries.agentName, canaries.instructions, {
    ...{ visibility: 'GROUP', groups: [group], intermediateStepsVisible: true, enabledTools: standingTools(shared) },
    ...{ profile: { headline: 'Answers', features: [{ title: 'Quick', description: 'Knows the terms by heart.' }], ...samples } },
  });
  const parts = await made.parts(agent, {
    tool: canaries.tool,
    skill: canaries.skill,
    flow: canaries.flow,
    secret: canaries.secret,
  });
  await made.parts(shared, {
    ...{ tool: canaries.sharedTool, skill: canaries.sharedSkill, flow: canaries.sharedFlow, secret: canaries.sharedSecret },
  });
  const source = await made.id(`/api/v1/ais/${agent}/data-sources/api`, {
    ...{ name: canaries.source, data: { hours: `The shop opens at nine. ${canaries.passage}` } },
  });
  await indexed(owner, source);
  const omissions = [{ kind: 'CHARTS', count: 1, total: null }];
  await service.deps.storage.db.prisma.knowledgeItem.updateMany({ where: { dataSourceId: source }, data: { omissions } });
  const { chat, file, answer } = await made.chat(agent);
  await made.id(`/api/v1/ais/${shared}/chats`, {});
  const run = await made.run(agent, chat, { shared, source });
  await made.feedback(answer);
  await made.schedule(agent, chat, run);
  const connection = await made.around(agent);
  const items = (await owner.get(`/api/v1/data-sources/${source}/knowledge`)).body.data;
  const conversation = await made.conversation();
  const endings = ['incomplete', 'cancelled', 'completed'] as const;
  await world.hold();
  await made.writtenAndErased();
  const ended = await Promise.all(endings.map((status) => made.endedRun(agent, chat, status)));
  return {
    ...{ conversation, runs: [run, ...ended], vectorStore: made.vectorStore },
    ...{ world, visibility: 'GROUP', agent, chat, run, file, source, group, connection, ...parts },
    ...{ response: await made.response(agent), item: items[0].id, category: await made.category() },
    ...{ user: await world.user(), membership: await world.membership() },
  };
}

class Maker {
  vectorStore = '';
  readonly #world: World;
  readonly #service: TestBench['service'];
  readonly #upstream: TestBench['upstream'];

  constructor(world: World, service: TestBench['service'], upstream: TestBench['upstream']) {
    this.#world = world;
    this.#service = service;
    this.#upstream = upstream;
  }

  /** Makes something of the owner. @returns its id. */
  async id(path: string, body: unknown): Promise<string> {
    return (await this.#made(path, body)).id;
  }

  agent(name: string, instructions: string, members: Readonly<Record<string, unknown>>): Promise<string> {
    const common = { src: '', description: 'Made by a test', modelId: 'openai/test-model', chatLogsVisible: true };
    return this.id('/api/v1/ais', { ...common, name, instructions, editors: [{ id: this.#world.editor.userId }], ...members });
  }

  /** @param texts  what the parts say. */
  async parts(agent: string, texts: { tool: string; skill: string; flow: string; secret: string }) {
    const at = `/api/v1/ais/${agent}`;
    const auth = { type: 'apiKey', in: 'query', name: 'key', value: '{{secret:KEY}}' };
    const data = { ...toolData, auth, description: texts.tool };
    const condition = { left: '{{input}}', operator: 'isEmpty', right: '' };
    const steps = [
      { id: 'look', type: 'retrieve', query: '{{input}}' },
      { id: 'say', type: 'prompt', text: texts.flow },
      { id: 'call', type: 'tool', tool: 'weather', arguments: {} },
      { id: 'choose', type: 'branch', condition, onTrue: 'answer' },
      { id: 'answer', type: 'model', prompt: 'Answer.' },
    ];
    const secret = { key: 'KEY', secretType: 'apiKey', value: texts.secret, description: 'Opens the door' };
    const secretId = await this.id(`${at}/secrets`, secret);
    await this.id(`${at}/tools`, {
      name: 'bell',
      type: 'CLIENT_FUNCTION',
      data: { description: 'Rings a bell', parameters: {} },
    });
    // An agent that was made for another installation holds a program; no request sets one.
    const program = { description: 'Files', command: 'files', args: ['--all'], env: { FOLDER: 'docs' } };
    const { storage, newId } = this.#service.deps;
    await storage.db.prisma.agentTool.create({
      data: { id: newId('agentTool'), agentId: agent, name: 'files', type: 'MCP_SERVER', data: program },
    });
    for (const [type, configuration] of Object.entries(inputConfigurations)) {
      await this.id(`${at}/user-inputs`, { variableName: type.toLowerCase(), type, label: type, configuration });
    }
    return {
      tool: await this.id(`${at}/tools`, { name: 'weather', type: 'API_FUNCTION', data }),
      skill: await this.id(`${at}/skills`, { name: 'Manners', content: texts.skill }),
      userInput: await this.id(`${at}/user-inputs`, { variableName: 'shop', type: 'SHORT_TEXT', label: 'Which shop?' }),
      flow: await this.id(`${at}/flows`, {
        ...{ name: 'Steps', enabled: false, versions: [{ version: 1, active: true, data: { steps } }] },
      }),
      secret: secretId,
    };
  }

  /** A chat with a question and an answer that cites a document, a file of its user, and a branch. */
  async chat(agent: string): Promise<{ readonly chat: string; readonly file: string; readonly answer: string }> {
    const userInputs = { shop: 'North' };
    const chat = await this.id(`/api/v1/ais/${agent}/chats`, { name: canaries.chatName, userInputs });
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), `${canaries.chatFile}.txt`);
    const file = await this.id(`/api/v1/chats/${chat}/files`, form);
    this.#upstream.next({ text: `At nine [1]. ${canaries.answer}`, reasoning: canaries.reasoning });
    const prompt = `When does the shop open? ${canaries.question}`;
    await this.#made(`/api/v1/chats/${chat}/messages`, {
      prompt: [
        { type: 'text', text: prompt },
        { type: 'id', id: file },
      ],
    });
    const { messages } = (await this.#world.owner.get(`/api/v1/chats/${chat}`)).body;
    const answer = messages.find(({ role }: { role: string }) => role === 'assistant').id;
    return { chat, file, answer };
  }

  async feedback(messageId: string): Promise<void> {
    const mutation = 'mutation ($id: ID!, $input: RateMessageInput!) { rateMessage(id: $id, input: $input) { id } }';
    await this.#graphql(mutation, { id: messageId, input: { rating: 'DOWN', comment: canaries.comment, tags: ['wrong'] } });
  }

  /** A stored run that did everything that a run may do. */
  run(agentId: string, chatId: string, { shared, source }: { shared: string; source: string }): Promise<string> {
    const id = this.#service.deps.newId('run');
    const { run, steps, events } = loggedRun({ id, shared, source });
    const near = [passageOf(source)];
    return this.#storedRun(id, { agentId, chatId }, run, events, {
      ...{ answeredModelId: 'openai/other-model', errorCode: 'UPSTREAM_ERROR', errorMessage: 'The model does not answer' },
      ...{ firstTokenMs: 5, durationMs: 9, inputTokens: 5, outputTokens: 2, cachedTokens: 1, reasoningTokens: 1, cost: '0.5' },
      ...{ hasFoundNothing: true, selection: run.selection, steps },
      retrieval: { mode: 'lexical', reason: null, passageCount: 0, bestScore: null, near },
    });
  }

  /** A stored run that did nothing but end. */
  endedRun(agentId: string, chatId: string, status: 'incomplete' | 'cancelled' | 'completed'): Promise<string> {
    const id = this.#service.deps.newId('run');
    const incompleteReason = status === 'incomplete' ? 'max_output_tokens' : null;
    const run: RunSnapshot = { runId: id, status, incompleteReason, error: null, usage, selection: null, output: [] };
    const type = status === 'completed' ? 'response.completed' : 'response.incomplete';
    const events = numbered([
      { type: 'response.created', run: { ...run, status: 'in_progress', usage: null } },
      { type, run },
    ]);
    return this.#storedRun(id, { agentId, chatId }, run, events, { incompleteReason });
  }

  async #storedRun(
    id: string,
    place: { readonly agentId: string; readonly chatId: string },
    run: RunSnapshot,
    events: readonly RunEvent[],
    columns: Readonly<Record<string, unknown>>,
  ): Promise<string> {
    const { storage, now } = this.#service.deps;
    const { orgId, userId, keyId } = this.#world.owner;
    const at = now();
    const lastSequence = events.length - 1;
    const common = { id, createdAt: at, startedAt: at, endedAt: at, orgId, userId, keyId, kind: 'chat', request: {} };
    await storage.db.prisma.run.create({
      data: { ...common, ...place, modelId: 'openai/test-model', status: run.status, lastSequence, ...columns },
    });
    const data = { runId: id, firstSequence: 0, lastSequence, events: events as unknown as object[] };
    await storage.db.prisma.runEventBatch.create({ data });
    return id;
  }

  /** A schedule of the owner that goes on in the chat and has run once. */
  async schedule(agentId: string, chatId: string, runId: string): Promise<void> {
    const { storage, newId, now } = this.#service.deps;
    const scheduleId = await this.#world.schedule(agentId, canaries.schedule);
    const { orgId, userId } = this.#world.owner;
    const at = now();
    const times = { createdAt: at, dueAt: at, startedAt: at, endedAt: at };
    const ended = { trigger: 'TIME', status: 'INCOMPLETE', errorMessage: 'The answer is incomplete', runId, chatId };
    await storage.conversations.schedules.update(scheduleId, { chatMode: 'SAME', chatId, userInputs: { city: 'Rome' } });
    await storage.db.prisma.scheduleRun.create({
      data: { id: newId('scheduleRun'), orgId, userId, scheduleId, ...times, ...ended },
    });
  }

  /** What belongs to the owner and to no chat. */
  async around(agent: string): Promise<string> {
    await this.id('/api/v1/memories', { text: canaries.memory });
    await this.#chatImport();
    await this.#world.prompt(`${canaries.prompt} {{city: Rome | Bern = Rome}}`);
    const connection = await this.id('/api/v1/connections', {
      provider: 'WIKI',
      accountName: canaries.connection,
      accessToken: canaries.token,
    });
    await this.#made('/api/v1/api-keys', { name: canaries.keyName, scopes: ['AGENTS:READ'] });
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), `${canaries.storedFile}.txt`);
    form.append('purpose', 'assistants');
    const file = await this.id('/api/v1/files', form);
    const store = await this.id('/api/v1/vector_stores', { name: canaries.vectorStore, metadata: { floor: '3' } });
    await this.#made(`/api/v1/vector_stores/${store}/files`, { file_id: file, attributes: { year: 2026 } });
    await eventually(async () => {
      const { body } = await this.#world.owner.get(`/api/v1/vector_stores/${store}`);
      if (body.file_counts.completed !== 1) throw new Error(`not indexed: ${JSON.stringify(body)}`);
    });
    this.vectorStore = store;
    await this.#world.upload();
    const mutation =
      'mutation ($agentId: ID!, $input: AgentGrantsInput!) { putAgentGrants(agentId: $agentId, input: $input) { agentId } }';
    await this.#graphql(mutation, { agentId: agent, input: { memories: 'READ' } });
    await this.#sources(agent);
    await this.#session();
    await this.#webhook(agent);
    await this.#world.budget('ORGANIZATION');
    await this.#world.savedDocument();
    await this.#world.mcpOauthClient();
    await this.#world.invitation();
    await this.#world.passkey();
    await this.#world.connectedApp();
    return connection;
  }

  /** An import that brought a chat and left something out. */
  async #chatImport(): Promise<void> {
    const { storage, newId } = this.#service.deps;
    const id = await this.#world.chatImport('DONE', canaries.chatImport);
    const omissions = [{ kind: 'IMAGES', count: 1, chatNames: [] }];
    await storage.db.prisma.chatImport.update({ where: { id }, data: { format: 'CHATGPT', omissions } });
    const { orgId, userId } = this.#world.owner;
    const data = { orgId, userId, name: '', updatedAt: new Date() };
    const { id: chatId } = await storage.db.prisma.chat.create({ data: { ...data, id: newId('chat') } });
    await storage.db.prisma.chatOrigin.create({ data: { chatId, orgId, userId, origin: 'CHATGPT:1', importId: id } });
  }

  /** A webhook whose last delivery was refused. */
  async #webhook(agentId: string): Promise<void> {
    const { storage, now } = this.#service.deps;
    const { id, deliveryId } = await this.#world.webhook();
    await storage.operations.webhooks.update(id, this.#world.home.id, { agentIds: [agentId] });
    const last = { lastAttemptAt: now(), lastStatus: 500, lastBodyStart: 'No', lastError: 'The receiver answered 500' };
    await storage.db.prisma.webhookDelivery.update({
      where: { id: deliveryId },
      data: { ...last, status: 'FAILED', attempts: 11 },
    });
  }

  /** A browser in which the owner is signed in. */
  async #session(): Promise<void> {
    const { storage, newId, now } = this.#service.deps;
    const { orgId, userId } = this.#world.owner;
    const createdAt = now();
    const expiresAt = new Date(createdAt.getTime() + 86_400_000);
    const made = { id: newId('session'), hash: hashSecret(makeSignInSecret()), level: 'ORGANIZATION', method: 'LINK' } as const;
    const identity = { provider: 'idp', issuer: 'https://id.example.com', subject: userId, email: 'owner@example.com' };
    const byProvider = { isAdminByGroup: false, groupIds: [], lastUsedAt: createdAt };
    await storage.people.identities.create({ id: newId('identity'), createdAt, userId, orgId, ...identity, ...byProvider });
    await storage.people.sessions.create({
      ...made,
      createdAt,
      userId,
      orgId,
      expiresAt,
      userAgent: 'A browser',
      network: '127.0.0.1',
    });
  }

  /** A source of every kind that is read from elsewhere: nothing reads them, so that the test calls nobody. One of them has a run under way. */
  async #sources(agentId: string): Promise<void> {
    const { storage, newId, now } = this.#service.deps;
    const { orgId, userId: ownerUserId } = this.#world.owner;
    for (const [type, data] of Object.entries(settings)) {
      const createdAt = now();
      const id = newId('dataSource');
      const common = { orgId, ownerUserId, createdAt, updatedAt: createdAt, refreshPeriod: 'NEVER' };
      await storage.db.prisma.dataSource.create({
        data: { ...common, id, name: `${canaries.webSource} ${type}`, type, data, agents: { create: { agentId } } },
      });
      if (type !== 'WEB_URL') continue;
      const leaseUntil = new Date(createdAt.getTime() + 3_600_000);
      await storage.db.prisma.sourceRun.create({
        data: { id: newId('sourceRun'), dataSourceId: id, trigger: 'REFRESH', leaseOwner: 'another', leaseUntil },
      });
    }
  }

  /** A response with tools of every kind, metadata and logprobs. */
  async response(model: string): Promise<string> {
    const logprob = { token: 'Hi', logprob: -0.1, bytes: [72, 105] };
    const logprobs = [{ ...logprob, top_logprobs: [logprob] }];
    const { output } = await this.#made('/api/v2/responses/compact', { model, input: 'What is 1 + 2?' });
    this.#upstream.next({ text: ['Hi'], logprobs });
    const id = await this.id('/api/v2/responses', {
      ...{
        model,
        input: [...output, { role: 'user', content: canaries.request }],
        metadata: { floor: '3' },
        include: ['message.output_text.logprobs'],
        top_logprobs: 1,
      },
      tools: [{ type: 'function', name: 'lamp', parameters: { type: 'object', properties: {} } }, { type: 'memory' }],
    });
    const { orgId, userId } = this.#world.owner;
    const rows = storedItems.map((item, index) => ({ ordinal: 10 + index, itemId: item.id, item }));
    await this.#service.deps.storage.db.prisma.responseItem.createMany({
      data: rows.map((row) => ({ ...row, runId: id, direction: 'input', orgId, userId })),
    });
    return id;
  }

  /** A heading of the catalog. */
  async category(): Promise<string> {
    const mutation = 'mutation ($input: AgentCategoryInput!) { createAgentCategory(input: $input) { id } }';
    const { data, errors } = await this.#world.admin.graphql(mutation, { input: { name: canaries.category } });
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data.createAgentCategory.id;
  }

  /** An export of the owner's data, and the report of an erasure: both by jobs. */
  async writtenAndErased(): Promise<void> {
    await this.#world.dataExport();
    const input = { userId: await this.#world.user(), transferToUserId: this.#world.owner.userId };
    const { errors } = await this.#world.admin.graphql(
      'mutation ($input: ErasePersonInput!) { erasePerson(input: $input) { id } }',
      {
        input,
      },
    );
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    const query = '{ erasures { nodes { status } } }';
    await eventually(async () => {
      expect((await this.#world.admin.graphql(query)).data.erasures.nodes).toEqual([{ status: 'DONE' }]);
      const { data } = await this.#world.owner.graphql('{ dataExports { nodes { status } } }');
      expect(data.dataExports.nodes).toContainEqual({ status: 'READY' });
    });
  }

  /** A conversation with an item of every kind. */
  async conversation(): Promise<string> {
    return this.id('/api/v1/conversations', { items: conversationItems, metadata: { floor: '3' } });
  }

  async #made(path: string, body: unknown) {
    const reply = await this.#world.owner.post(path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  async #graphql(document: string, variables: Readonly<Record<string, unknown>>): Promise<void> {
    const { errors } = await this.#world.owner.graphql(document, variables);
    if (errors !== undefined) throw new Error(`${document}: ${JSON.stringify(errors)}`);
  }
}

const samples = { conversations: [{ question: 'When do you open?', answer: 'At nine.' }] };

const inputConfigurations = {
  LONG_TEXT: { maxLength: 2_000 },
  NUMBER: { min: 1, max: 9 },
  BOOLEAN: {},
  DATE: {},
  SELECT: { options: ['North', 'South'] },
};

const standingTools = (asked: string) => [
  { type: 'web_search', userLocation: { type: 'approximate', city: 'Bern', country: 'CH' } },
  {
    type: 'file_search',
    filters: { type: 'and', filters: [{ type: 'eq', key: 'path', value: 'docs/' }] },
  },
  ...['python', 'sandbox', 'spreadsheet', 'memory'].map((type) => ({ type })),
  { type: 'image_generation', inputImageMask: { imageUrl: 'data:image/png;base64,AAAA' } },
  { type: 'mcp_server', server: 'desk', allowedTools: { read_only: true } },
  {
    ...{ type: 'mcp', serverLabel: 'shop', serverUrl: 'https://example.com/mcp' },
    requireApproval: { always: { tool_names: ['pay'] }, never: { read_only: true } },
  },
  { type: 'subagent', agents: [asked] },
  { type: 'deep_research', budget: { subagents: 2, tokens: 5_000 } },
];
/** Items that a request may hold, as the store keeps them. */
const storedItems = [
  { id: 'mcpa_1', type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
  { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
  { id: 'msg_2', type: 'message', role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] },
];

/** By the kind of the source. */
const settings = {
  FILE_UPLOAD: { filename: 'a.txt', mimeType: 'text/plain', size: 5 },
  WEB_URL: { url: 'https://example.com' },
  DRIVE_A: { fileId: '1', filename: 'Handbook' },
  DRIVE_B: { fileId: '1', filename: 'Handbook' },
  WIKI: { pageName: 'Handbook' },
  TRACKER: { projectName: 'Help', projectKey: 'HELP' },
  REPO_HOST: { mode: 'all' },
} as const;

const conversationItems = [
  { role: 'user', content: [{ type: 'input_text', text: canaries.conversation }] },
  {
    role: 'user',
    content: [
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,SGVsbG8=' },
    ],
  },
  { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
  { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
  { type: 'function_call', call_id: 'call_1', name: 'lamp', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'on' },
  {
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'x', sources: [{ type: 'url', url: 'https://example.com' }] },
  },
  {
    type: 'file_search_call',
    status: 'completed',
    queries: ['x'],
    results: [{ file_id: 'f', filename: 'a', score: 1, text: 'b' }],
  },
  { type: 'code_interpreter_call', status: 'completed', code: '1', outputs: [{ type: 'logs', logs: '1' }] },
  { type: 'mcp_list_tools', server_label: 'shop', tools: [{ name: 'pay', input_schema: { type: 'object' } }] },
  { type: 'mcp_call', server_label: 'shop', name: 'pay', arguments: '{}', error: 'broke' },
  { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'shop', name: 'pay', arguments: '{}' },
  { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
];

const usage = { inputTokens: 5, outputTokens: 2, cachedTokens: 1, reasoningTokens: 1 };

function passageOf(dataSourceId: string) {
  return { title: canaries.source, score: 0.5, chunkId: null, knowledgeItemId: null, dataSourceId };
}

interface LoggedRun {
  readonly run: RunSnapshot;
  readonly steps: readonly RunStep[];
  readonly events: readonly RunEvent[];
}

function loggedRun(of: { readonly id: string; readonly shared: string; readonly source: string }): LoggedRun {
  const flowStep = { stepId: 'say', type: 'prompt', status: 'completed', input: 'a', output: 'b', durationMs: 1 } as const;
  const citation: Citation = {
    ...{ id: 'cit_1', index: 1, knowledgeItemId: '', dataSourceId: '', name: 'A page', url: 'https://example.com', type: 'WEB' },
    ...{ page: null, headingPath: '', snippet: 'Hi', charStart: 0, charEnd: 2, score: 1, answerStart: 0, answerEnd: 1 },
  };
  const subagent: Subagent = {
    ...{ id: 'sub_1', name: 'Helper', agentId: of.shared, parentId: null, task: 'Look', status: 'completed', depth: 1 },
  };
  const call = { type: 'server_tool_call', status: 'completed', arguments: '{}' } as const;
  const failure = { code: 'TOOL_FAILED', message: 'It broke' };
  const file = { fileId: null, filename: 'a.txt', mimeType: 'text/plain', sizeBytes: 1, url: 'https://example.com/a' };
  const page = { url: 'https://example.com', title: 'A page' };
  const found = { fileId: 'file_1', filename: 'a.txt', score: 1, text: 'Hi' };
  const answered = { output: 'Hi', error: null };
  const output: readonly RunItem[] = [
    { type: 'reasoning', id: 'rs_1', status: 'completed', text: canaries.reasoning },
    { ...call, id: 'tc_1', callId: 'call_1', name: 'memory' },
    {
      ...{ type: 'server_tool_call_output', id: 'to_1', status: 'completed', callId: 'call_1' },
      ...{ output: canaries.toolOutput, error: null, files: [file] },
    },
    { ...call, id: 'tc_2', callId: 'call_2', name: 'use_skill', arguments: '{"name":"Manners"}' },
    {
      ...{ type: 'server_tool_call_output', id: 'to_2', status: 'completed', callId: 'call_2' },
      ...{ output: canaries.confidentialOutput, error: null, isConfidential: true },
    },
    { ...call, id: 'tc_3', callId: 'call_3', name: 'weather' },
    {
      ...{ type: 'server_tool_call_output', id: 'to_3', status: 'completed', callId: 'call_3' },
      ...{ output: canaries.hiddenOutput, error: null, isHidden: true },
    },
    {
      ...call,
      id: 'ws_1',
      callId: 'call_4',
      name: 'web_search',
      form: { type: 'web_search', action: { type: 'search', query: 'x', sources: [page] } },
    },
    {
      ...{ ...call, id: 'fs_1', callId: 'call_6', name: 'search_knowledge', result: answered },
      form: { type: 'file_search', queries: ['x'], results: [found] },
    },
    {
      ...{ ...call, id: 'mc_1', callId: 'call_7', name: 'shop__pay', result: { ...answered, error: failure } },
      form: { type: 'mcp', serverLabel: 'shop', tool: 'pay' },
    },
    {
      ...{ type: 'mcp_list_tools', id: 'ml_1', status: 'completed', serverLabel: 'shop', error: null },
      tools: [{ name: 'pay', description: null, inputSchema: { type: 'object' }, annotations: null }],
    },
    { type: 'function_call', id: 'fc_2', status: 'completed', callId: 'call_8', name: 'lamp', arguments: '{}' },
    { type: 'function_call', id: 'fc_1', status: 'completed', callId: 'call_5', name: 'lamp', arguments: '{}', approval: true },
    { type: 'message', id: 'msg_1', status: 'completed', text: canaries.answer, citations: [] },
  ];
  const fallbackChain = [{ provider: 'openai', model: 'other-model', reason: 'UPSTREAM_ERROR' }];
  const run: RunSnapshot = {
    ...{ runId: of.id, status: 'failed', incompleteReason: null, usage, output, serviceTier: 'default' },
    error: { code: 'UPSTREAM_ERROR', message: 'The model does not answer' },
    selection: { provider: 'openai', model: 'test-model', fallbackChain, latencyHints: { queueMs: 1, firstTokenMs: 5 } },
    warnings: [{ code: 'tool_not_available', message: 'It has no effect', param: null }],
    flowSteps: [flowStep],
  };
  const times = { startedAtMs: 1_790_000_000_000, durationMs: 3 };
  const steps: readonly RunStep[] = [
    { ...times, type: 'retrieval', mode: 'lexical', reason: null, passageCount: 1, passages: [passageOf(of.source)] },
    {
      ...{ ...times, type: 'model_call', modelId: 'openai/test-model', firstTokenMs: 5, usage, cost: '0.5' },
      errorCode: 'UPSTREAM_ERROR',
    },
    {
      ...times,
      type: 'tool_call',
      itemId: 'tc_1',
      callId: 'call_1',
      name: 'memory',
      outcome: 'failed',
      errorCode: 'TOOL_FAILED',
    },
    {
      ...times,
      type: 'subagent',
      id: 'sub_1',
      name: 'Helper',
      agentId: of.shared,
      depth: 1,
      status: 'completed',
      usage,
      cost: '0',
    },
    { ...times, type: 'flow', stepId: 'say', does: 'prompt', status: 'completed' },
  ];
  const started: RunSnapshot = { ...run, status: 'in_progress', error: null, usage: null, output: [] };
  const place = { outputIndex: 1, itemId: 'tc_1' };
  const said = { outputIndex: 10, itemId: 'msg_1' };
  const bodies: readonly RunEventBody[] = [
    { type: 'response.created', run: started },
    { type: 'response.in_progress', run: started },
    { type: 'parley.step', name: 'retrieve', detail: { passages: 1, titles: [canaries.source] } },
    { type: 'parley.flow.step', step: flowStep, result: { place: 0, text: 'b' } },
    { type: 'parley.input', messages: [] },
    { type: 'response.output_item.added', ...place, item: { ...call, id: 'tc_1', callId: 'call_1', name: 'memory' } },
    { type: 'response.function_call_arguments.delta', ...place, json: '"{}"' },
    { type: 'response.function_call_arguments.done', ...place, name: 'memory', arguments: '{}' },
    { type: 'response.server_tool_call.in_progress', ...place },
    { type: 'response.subagent.started', ...place, subagent: { ...subagent, status: 'in_progress' } },
    { type: 'response.subagent.progress', ...place, subagentId: subagent.id, message: 'Looks', progress: 0.5, usage },
    { type: 'response.subagent.completed', ...place, subagent: { ...subagent, status: 'completed', summary: 'Found', usage } },
    { type: 'response.server_tool_call.failed', ...place },
    { type: 'response.server_tool_call.completed', ...place },
    ...output.map((item, outputIndex) => ({ type: 'response.output_item.done', outputIndex, item }) as const),
    { type: 'response.reasoning_text.delta', outputIndex: 0, itemId: 'rs_1', json: '"Hm"' },
    { type: 'response.content_part.added', ...said },
    { type: 'response.output_text.delta', ...said, json: '"Hi"' },
    { type: 'response.output_text.annotation.added', ...said, citation },
    { type: 'response.output_text.done', ...said, text: 'Hi' },
    { type: 'parley.usage', usage, calls: [] },
    { type: 'response.incomplete', run: { ...run, status: 'incomplete', incompleteReason: 'paused', error: null } },
    { type: 'response.in_progress', run: started },
    { type: 'response.failed', run: { ...run, record: { startedAtMs: times.startedAtMs, workedMs: 9, steps } } },
  ];
  return { run, steps, events: numbered(bodies) };
}

function numbered(bodies: readonly RunEventBody[]): readonly RunEvent[] {
  return bodies.map((body, sequence) => ({ ...body, sequence }));
}
