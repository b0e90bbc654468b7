import { type AgentVisibility, agentVisibilities } from '../../../src/entities/agents/agent.ts';
import { makeFor, type Organization, type Person } from '../../support/make.ts';
import type { TestService } from '../../support/service.ts';
import type { Principal } from './relations.ts';

type Make = ReturnType<typeof makeFor>;

/** Things of the owner around one agent. */
export interface Things {
  readonly agent: string;
  readonly chat: string;
  readonly run: string;
  readonly file: string;
  readonly response: string;
  readonly source: string;
  readonly item: string;
  readonly tool: string;
  readonly userInput: string;
  readonly skill: string;
  readonly flow: string;
  readonly secret: string;
}

/** What a line of the table may use in its arguments. */
export interface Setting extends Things {
  readonly world: World;
  readonly visibility: AgentVisibility;
  /** A RESTRICTED group of the owner. */
  readonly group: string;
  /** A wiki connection of the owner. */
  readonly connection: string;
  readonly category: string;
  /** A user of the organization who owns nothing, and the membership of another user. */
  readonly user: string;
  readonly membership: string;
}

/** A message that waits for the output of a tool. */
export interface Awaiting {
  readonly chat: string;
  readonly message: string;
  readonly call: string;
}

export const weatherTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};

/** An organization with people, the owner's things, and methods that make new things for lines of the table. */
export class World {
  readonly make: Make;
  readonly home: Organization;
  readonly owner: Person;
  readonly admin: Person;
  readonly editor: Person;
  readonly member: Person;
  /** An organization of the same tenant. */
  readonly sister: Organization;
  readonly service: TestService;
  readonly #connections = new Map<string, Promise<string>>();
  /** Those made so far: lists show them beside the things of a setting. */
  readonly vectorStores: string[] = [];
  #installation: Promise<unknown> | undefined;
  #mcpServer: Promise<string> | undefined;
  #made = 0;

  private constructor(
    service: TestService,
    make: Make,
    places: { readonly home: Organization; readonly sister: Organization },
    people: { readonly owner: Person; readonly admin: Person; readonly editor: Person; readonly member: Person },
  ) {
    this.service = service;
    this.make = make;
    this.home = places.home;
    this.sister = places.sister;
    this.owner = people.owner;
    this.admin = people.admin;
    this.editor = people.editor;
    this.member = people.member;
  }

  /** Makes a world in a tenant of its own, or in the sister organization of another world. */
  static async create(service: TestService, beside?: World): Promise<World> {
    const make = beside?.make ?? makeFor(service);
    const home = beside?.sister ?? (await make.organization());
    const sister = await make.organization({ tenant: { id: home.tenantId } });
    const [owner, admin, editor, member] = await Promise.all([
      make.person({ organization: home }),
      make.person({ organization: home, role: 'ADMIN' }),
      make.person({ organization: home }),
      make.person({ organization: home }),
    ]);
    return new World(service, make, { home, sister }, { owner, admin, editor, member });
  }

  /** A unique name. */
  name(prefix = 'Thing'): string {
    this.#made += 1;
    return `${prefix}_${this.#made}`;
  }

  number(): number {
    this.#made += 1;
    return this.#made;
  }

  /** Every principal of the matrix that has a key. */
  async people(): Promise<Readonly<Record<Exclude<Principal, 'nobody' | 'keyWithoutScope'>, Person>>> {
    const { make, home, sister, owner } = this;
    const newcomer = await make.person({ organization: home });
    const revoked = await make.withKey(owner, {});
    await owner.delete(`/api/v1/api-keys/${revoked.keyId}`);
    const operator = await make.person({ role: 'ADMIN', level: 'INSTANCE' });
    return {
      revokedKey: revoked,
      expiredKey: await make.withKey(owner, { expiresAt: new Date(Date.now() - 1_000) }),
      owner,
      editor: this.editor,
      groupMember: this.member,
      colleague: newcomer,
      orgAdmin: this.admin,
      auditor: await make.person({ organization: home, role: 'AUDITOR' }),
      tenantKey: await make.person({ organization: home, level: 'TENANT' }),
      tenantKeyElsewhere: await make.person({ organization: sister, level: 'TENANT' }),
      instanceKey: operator,
      otherOrganization: await make.person({ organization: sister, role: 'ADMIN' }),
      otherTenant: await make.person({ role: 'ADMIN' }),
    };
  }

  /** A RESTRICTED group of the owner with one member. */
  async group(): Promise<string> {
    const body = { name: this.name('Group'), availability: 'RESTRICTED', memberEmails: this.member.email };
    return this.#madeBy(this.owner, '/api/v1/groups', body);
  }

  /** A project of the owner that is shared with a group. */
  async project(): Promise<string> {
    return this.#madeBy(this.owner, '/api/v1/projects', { name: this.name('Project'), groupIds: [await this.group()] });
  }

  /** A memory of the owner. */
  /** The agent, with a draft that differs from what people get, and without a canary. */
  async draft(agent: string): Promise<string> {
    await this.owner.graphql('mutation ($id: ID!) { endCanary(id: $id, keep: PUBLISHED) { id } }', { id: agent });
    const document = `mutation ($id: ID!, $input: UpdateAgentInput!) {
      setAgentPublishing(id: $id, publishing: ON_REQUEST) { id }
      updateAgent(id: $id, input: $input) { id }
    }`;
    await this.owner.graphql(document, { id: agent, input: { seed: this.name('Draft') } });
    return agent;
  }

  /** The same with a canary. */
  async canary(agent: string): Promise<string> {
    await this.owner.graphql('mutation ($id: ID!) { startCanary(id: $id, percent: 10) { id } }', { id: await this.draft(agent) });
    return agent;
  }

  async memory(): Promise<string> {
    return this.#madeBy(this.owner, '/api/v1/memories', { text: this.name('Likes') });
  }

  /** A word that no other prompt is called by. */
  command(): string {
    return this.name('news')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-');
  }

  /** A prompt that the owner shares with nobody. */
  async prompt(text = 'What is new?'): Promise<string> {
    const input = { name: 'News', command: this.command(), text };
    const document = 'mutation ($input: CreatePromptInput!) { createPrompt(input: $input) { id } }';
    return (await this.owner.graphql(document, { input })).data.createPrompt.id;
  }

  /** An import of the owner, which has brought nothing. */
  async chatImport(status: 'READING' | 'DONE' = 'DONE', filename = this.name('Chats')): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const { orgId, userId } = this.owner;
    const id = newId('chatImport');
    const data = { id, createdAt: now(), orgId, userId, agentId: null, filename, sizeBytes: 1, status };
    await storage.db.prisma.chatImport.create({ data: { ...data, endedAt: status === 'DONE' ? now() : null } });
    return id;
  }

  /** The datasets of an agent that were made here, the oldest first. */
  readonly #datasets = new Map<string, string[]>();

  /** A dataset of an agent, with one case that is a draft. */
  async dataset(
    agentId: string,
    question = 'What is new?',
    isDraft = true,
  ): Promise<{ readonly id: string; readonly caseId: string }> {
    const document = `mutation ($agentId: ID!, $input: CreateDatasetInput!) { createDataset(agentId: $agentId, input: $input) { id } }`;
    // An agent has at most 100.
    const made = this.#datasets.get(agentId) ?? [];
    this.#datasets.set(agentId, made);
    const oldId = made.length < 50 ? undefined : made.shift();
    if (oldId !== undefined) await this.owner.graphql('mutation ($id: ID!) { deleteDataset(id: $id) { id } }', { id: oldId });
    const { id } = (await this.owner.graphql(document, { agentId, input: { name: this.name('Cases') } })).data.createDataset;
    made.push(id);
    const messages = [{ role: 'USER', content: 'Hello' }];
    const calls = { mustCall: [{ name: 'find' }], recordedCalls: [{ name: 'find', output: '7' }] };
    const cases = [{ question, messages, files: [{ filename: 'a.txt', text: 'A' }], ...calls, isDraft }];
    const added = `mutation ($id: ID!, $cases: [DatasetCaseInput!]!) { addDatasetCases(datasetId: $id, cases: $cases) { id } }`;
    await this.owner.graphql(added, { id, cases });
    const listed = await this.owner.graphql('query ($id: ID!) { datasetCases(datasetId: $id) { nodes { id } } }', { id });
    return { id, caseId: listed.data.datasetCases.nodes[0].id };
  }

  /** A dataset whose case has words that the owner said. */
  async datasetOfWords(agentId: string): Promise<string> {
    const { id } = await this.dataset(agentId);
    const { prisma } = this.service.deps.storage.db;
    await prisma.datasetCase.updateMany({ where: { datasetId: id }, data: { sourceUserId: this.owner.userId } });
    return id;
  }

  /** An experiment over a dataset of the agent, with one answer. */
  async experiment(agentId: string, status: 'WAITING' | 'STOPPED' = 'WAITING'): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const { orgId, userId } = this.owner;
    const dataset = await this.dataset(agentId);
    const { prisma } = storage.db;
    const id = newId('experiment');
    const settings = { pattern: null, schema: null, tolerance: null, max: null, modelId: null, rubric: null };
    const [variants, scorers] = [[{ version: 'draft', draftRevision: 0, modelId: null }], [{ kind: 'EQUALS', ...settings }]];
    const interval = { low: 0, high: 1 };
    const figures = {
      variant: 0,
      caseCount: 1,
      rate: 1,
      interval,
      failedCount: 0,
      unscoredCount: 0,
      tokens: 1,
      cost: 0,
      durationMs: null,
    };
    const comparison = { variant: 1, better: 0, same: 1, worse: 0, difference: 0, interval, verdict: 'SAME', costRatio: null };
    const summary = { variants: [figures], comparisons: [comparison] };
    const data = {
      id,
      createdAt: now(),
      orgId,
      userId,
      agentId,
      datasetId: dataset.id,
      revision: 1,
      status,
      variants,
      scorers,
      summary,
    };
    const endedAt = status === 'STOPPED' ? now() : null;
    await prisma.experiment.create({ data: { ...data, endedAt, repeats: 1, tokensMax: 1_000n, seed: 1, plannedCount: 1 } });
    const result = { experimentId: id, caseId: dataset.caseId, caseRevision: 1, variant: 0, repeat: 0, weight: 1 };
    const details = { citations: [{ itemId: '', name: 'a' }], calls: [{ name: 'find', arguments: '{}' }] };
    const scores = [{ kind: 'EQUALS', passed: true, value: 1, note: '', error: null }];
    const pair = { choice: 'TIE', reason: '', error: null };
    await prisma.experimentResult.create({ data: { ...result, details, scores, pair } });
    return id;
  }

  /** A saved filter of runs of the owner. */
  async runFilter(): Promise<string> {
    const input = { name: this.name('Filter'), query: 'status=FAILED' };
    const saved = await this.owner.graphql('mutation ($input: SaveRunFilterInput!) { saveRunFilter(input: $input) { id } }', {
      input,
    });
    return saved.data.saveRunFilter.id;
  }

  /** A schedule of the owner, which runs once a year. */
  async schedule(agentId: string, prompt = 'Hello'): Promise<string> {
    const input = { name: this.name('Schedule'), agentId, prompt, cron: '0 0 1 1 *', timeZone: 'UTC' };
    const made = await this.owner.graphql('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { id } }', {
      input,
    });
    return made.data.createSchedule.id;
  }

  async agent(visibility: AgentVisibility, group?: string): Promise<string> {
    const groups = group === undefined ? [] : [group];
    const members = { visibility, groups, editors: [{ id: this.editor.userId }], chatLogsVisible: true };
    return (await this.make.agent({ owner: this.owner, ...members })).id;
  }

  async chat(agent: string): Promise<string> {
    return (await this.make.chat({ owner: this.owner, agentId: agent })).id;
  }

  /** A link to a chat of the owner for the organization. */
  async share(chatId: string): Promise<{ readonly id: string; readonly secret: string }> {
    const document = `mutation ($chatId: ID!) {
      shareChat(chatId: $chatId, input: { audience: ORGANIZATION, mode: GROWING }) { url share { id } }
    }`;
    const { url, share } = (await this.owner.graphql(document, { chatId })).data.shareChat;
    return { id: share.id, secret: url.split('#')[1] };
  }

  /** A chat with an ended run that asked for the output of a tool. */
  async awaiting(agent: string): Promise<Awaiting> {
    const chat = await this.chat(agent);
    const prompt = 'What is the weather in Paris?';
    const sent = await this.owner.post(`/api/v1/chats/${chat}/messages`, { prompt, tools: [weatherTool] });
    if (sent.status !== 200) throw new Error(`not sent: ${JSON.stringify(sent.body)}`);
    const { messages } = (await this.owner.get(`/api/v1/chats/${chat}`)).body;
    const asking = messages.find(({ toolCalls }: { toolCalls?: readonly unknown[] }) => (toolCalls?.length ?? 0) > 0);
    if (asking === undefined) throw new Error(`nothing was asked: ${JSON.stringify(sent.body)}`);
    return { chat, message: asking.id, call: asking.toolCalls[0].id };
  }

  /** A chat with a message and its answer. */
  async exchange(agent: string): Promise<{ readonly chatId: string; readonly question: string; readonly answer: string }> {
    const chatId = await this.chat(agent);
    const sent = await this.owner.post(`/api/v1/chats/${chatId}/messages`, { prompt: 'Hello' });
    if (sent.status !== 200) throw new Error(`not sent: ${JSON.stringify(sent.body)}`);
    const { messages } = (await this.owner.get(`/api/v1/chats/${chatId}`)).body;
    const idOf = (role: string) => messages.find((message: { role: string }) => message.role === role).id;
    return { chatId, question: idOf('user'), answer: idOf('assistant') };
  }

  async file(chat: string): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    return this.#madeBy(this.owner, `/api/v1/chats/${chat}/files`, form);
  }
  /** A record of a file of five bytes, without its content. */
  fileRecord(chat: string): Promise<string> {
    const body = { filename: 'note.txt', size: 5, mimeType: 'text/plain' };
    return this.#madeBy(this.owner, `/api/v1/chats/${chat}/file-records`, body);
  }
  /** An ended response. */
  response(model: string): Promise<string> {
    return this.#madeBy(this.owner, '/api/v2/responses', { model, input: 'Hello' });
  }
  /** A conversation with one item. */
  async conversation(): Promise<{ readonly id: string; readonly itemId: string }> {
    const items = [{ role: 'user', content: 'My name is Ada.' }];
    const id = await this.#madeBy(this.owner, '/api/v1/conversations', { items });
    const { data } = (await this.owner.get(`/api/v1/conversations/${id}/items`)).body;
    return { id, itemId: data[0].id };
  }
  /** A file in no chat. */
  storedFile(): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob(['Hello'], { type: 'text/plain' }), 'note.txt');
    form.append('purpose', 'assistants');
    return this.#madeBy(this.owner, '/api/v1/files', form);
  }
  /** Pending, with its one part. */
  async upload(): Promise<{ readonly id: string; readonly partId: string }> {
    const begun = { bytes: 5, filename: 'note.txt', mime_type: 'text/plain', purpose: 'user_data' };
    const id = await this.#madeBy(this.owner, '/api/v1/uploads', begun);
    const form = new FormData();
    form.append('data', new Blob(['Hello'], { type: 'text/plain' }), 'part');
    return { id, partId: await this.#madeBy(this.owner, `/api/v1/uploads/${id}/parts`, form) };
  }
  /** With one file. */
  async vectorStore(): Promise<{ readonly id: string; readonly fileId: string }> {
    const fileId = await this.storedFile();
    const id = await this.#madeBy(this.owner, '/api/v1/vector_stores', { file_ids: [fileId] });
    this.vectorStores.push(id);
    return { id, fileId };
  }
  /** The one file of a new vector store, by the id that it has there. */
  async vectorStoreFile(): Promise<string> {
    const { id } = await this.vectorStore();
    const { data } = await this.owner.graphql('query ($id: ID!) { vectorStore(id: $id) { files { nodes { id } } } }', { id });
    return data.vectorStore.files.nodes[0].id;
  }
  /** With one file, which nothing indexes. */
  async fileBatch(): Promise<{ readonly id: string; readonly batchId: string }> {
    const { id, fileId } = await this.vectorStore();
    return { id, batchId: await this.#madeBy(this.owner, `/api/v1/vector_stores/${id}/file_batches`, { file_ids: [fileId] }) };
  }
  /** A run of a source of the owner. */
  async sourceRun(source: string): Promise<string> {
    const { data } = (await this.owner.get(`/api/v1/data-sources/${source}/runs`)).body;
    return data[0].id;
  }
  async bundle(agent: string): Promise<unknown> {
    return (await this.owner.get(`/api/v1/ais/${agent}/export`)).body;
  }

  /** An API source of the owner that documents are pushed to with those who may open them. */
  async mirroredSource(agent: string): Promise<string> {
    const body = { name: 'Handbook', data: {}, access: 'MIRRORED' };
    return (await this.owner.post(`/api/v1/ais/${agent}/data-sources/api`, body)).body.id;
  }

  async source(agent: string): Promise<string> {
    const data = { hours: '9 to 17' };
    return (await this.make.apiDataSource({ owner: this.owner, agentId: agent, data })).id;
  }

  part(agent: string, kind: string, body: Readonly<Record<string, unknown>>): Promise<string> {
    return this.#madeBy(this.owner, `/api/v1/ais/${agent}/${kind}`, body);
  }
  tool(agent: string): Promise<string> {
    return this.part(agent, 'tools', { name: this.name('tool'), type: 'API_FUNCTION', data: toolData });
  }
  /** Of a server that does not answer. */
  serverTool(agent: string): Promise<string> {
    const data = { url: 'http://127.0.0.1:9/mcp' };
    return this.part(agent, 'tools', { name: this.name('server'), type: 'MCP_SERVER', data });
  }
  userInput(agent: string): Promise<string> {
    return this.part(agent, 'user-inputs', { variableName: this.name('variable'), type: 'SHORT_TEXT', label: 'Which?' });
  }
  skill(agent: string): Promise<string> {
    return this.part(agent, 'skills', { name: this.name('Skill'), content: 'Ask first.' });
  }
  flow(agent: string): Promise<string> {
    // One flow of an agent is enabled at a time.
    return this.part(agent, 'flows', { name: this.name('Flow'), enabled: false });
  }
  secret(agent: string): Promise<string> {
    return this.part(agent, 'secrets', { key: this.name('KEY'), secretType: 'apiKey', value: 'value-of-a-secret' });
  }

  connection(provider = 'WIKI'): Promise<string> {
    const body = { provider, accountName: this.name('account'), accessToken: 'token-of-the-wiki' };
    return this.#madeBy(this.owner, '/api/v1/connections', body);
  }
  /** One connection of the owner for each provider, reused: the number of connections is limited. */
  connectionTo(provider: string): Promise<string> {
    const made = this.#connections.get(provider) ?? this.connection(provider);
    this.#connections.set(provider, made);
    return made;
  }
  /** The number of the owner's installation at a repository host. */
  async installation(): Promise<number> {
    const installationId = 4_711;
    this.#installation ??= this.make.installation({ owner: this.owner, installationId, name: 'ann' });
    await this.#installation;
    return installationId;
  }
  /** An MCP server of the owner, reused. */
  mcpServer(): Promise<string> {
    this.#mcpServer ??= this.#madeBy(this.owner, '/api/v1/connections/mcp-servers', {
      name: 'Weather',
      url: 'https://mcp.example.com',
    });
    return this.#mcpServer;
  }
  async key(): Promise<string> {
    return (await this.make.withKey(this.owner, {})).keyId;
  }
  /** A browser in which the owner is signed in. */
  session(): Promise<string> {
    return this.make.session(this.owner);
  }
  /** A passkey of the owner. */
  async passkey(): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const { userId } = this.owner;
    const id = newId('passkey');
    const device = {
      credentialId: id,
      publicKey: '',
      counter: 0,
      transports: [],
      isBackedUp: false,
      lastUsedAt: null,
      orgIds: [],
    };
    await storage.people.passkeys.create({
      id,
      createdAt: now(),
      userId,
      name: this.name('Laptop'),
      level: 'ORGANIZATION',
      ...device,
    });
    return id;
  }
  /** A program that the owner has connected by OAuth. */
  async connectedApp(): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const { userId, orgId } = this.owner;
    const id = newId('apiKey');
    const place = { userId, orgId, level: 'ORGANIZATION' } as const;
    const times = { createdAt: now(), expiresAt: new Date(now().getTime() + 3_600_000) };
    const client = { clientId: newId('oauthClient'), resource: `${this.service.url}/mcp` };
    await storage.people.apiKeys.create({
      ...{ id, ...place, ...times, ...client },
      ...{ name: this.name('Inspector'), scopes: ['AGENTS:READ'], prefix: '', hash: id },
    });
    return id;
  }
  /** A person at a provider, who signs in to the organization. */
  async identity(): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const { userId } = await this.make.person({ organization: this.home });
    const id = newId('identity');
    const key = { provider: 'idp', issuer: 'https://id.example.com', subject: userId };
    const times = { createdAt: now(), lastUsedAt: now() };
    const byProvider = { email: null, isAdminByGroup: false, groupIds: [] };
    await storage.people.identities.create({ id, ...times, userId, orgId: this.home.id, ...key, ...byProvider });
    return id;
  }
  async invitation(): Promise<string> {
    const email = `${this.name('invited')}@example.com`.toLowerCase().replaceAll(' ', '-');
    const { body } = await this.service.client().post('/api/v1/admin/invitations', { email, orgId: this.home.id });
    return body.invitation.id;
  }
  /** A budget that nothing uses up: of a new group, or the one of the organization, which is the same each time. */
  async budget(subject: 'GROUP' | 'ORGANIZATION' = 'GROUP'): Promise<string> {
    const of = subject === 'GROUP' ? { subject, subjectId: await this.group() } : { subject };
    const input = { ...of, period: 'DAY', unit: 'TOKENS', limit: 1_000_000_000 };
    const made = await this.admin.graphql('mutation ($input: SetBudgetInput!) { setBudget(input: $input) { id } }', { input });
    return made.data.setBudget.id;
  }
  async mcpOauthClient(): Promise<string> {
    const { storage, newId, now } = this.service.deps;
    const id = newId('mcpOauthClient');
    const place = { id, createdAt: now(), orgId: this.home.id, url: `https://${id}.example/mcp`, issuer: 'https://a.example' };
    await storage.knowledge.mcpOauthClients.set({ ...place, clientId: 'parley', hasSecret: false, sealed: '', scopes: [] });
    return id;
  }
  async savedDocument(): Promise<string> {
    // A document of the same name would be changed, not made.
    const name = this.command().replaceAll('-', '_');
    const input = { name, description: 'Who calls.', document: '{ viewer { keyId } }' };
    const made = await this.admin.graphql('mutation ($input: SaveDocumentInput!) { saveDocument(input: $input) { id } }', {
      input,
    });
    return made.data.saveDocument.id;
  }
  /** A webhook of the organization with a delivery that is never sent. */
  async webhook(): Promise<{ readonly id: string; readonly deliveryId: string }> {
    const input = { url: 'https://hooks.invalid/', events: ['SOURCE_FAILED'] };
    const made = await this.admin.graphql(
      'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { webhook { id } } }',
      { input },
    );
    const { id } = made.data.createWebhook.webhook;
    // Switched off, so that no job sends anything between two looks at the database.
    await this.service.deps.storage.operations.webhooks.update(id, this.home.id, { isEnabled: false });
    const tested = await this.admin.graphql('mutation ($id: ID!) { testWebhook(id: $id) { id } }', { id });
    return { id, deliveryId: tested.data.testWebhook.id };
  }
  async category(): Promise<string> {
    const mutation = 'mutation ($input: AgentCategoryInput!) { createAgentCategory(input: $input) { id } }';
    const { data, errors } = await this.admin.graphql(mutation, { input: { name: this.name('Category') } });
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return data.createAgentCategory.id;
  }
  /** A user of the organization who owns nothing. */
  async user(organization = this.home): Promise<string> {
    return (await this.make.person({ organization })).userId;
  }
  /** An export of what the owner has. */
  async dataExport(): Promise<string> {
    const document = 'mutation { exportPersonData(input: {}) { id } }';
    return (await this.owner.graphql(document)).data.exportPersonData.id;
  }
  async deactivatedUser(): Promise<string> {
    const id = await this.user();
    const document = 'mutation ($id: ID!, $orgId: ID) { deactivateUser(id: $id, orgId: $orgId) { id } }';
    return (await this.service.client().graphql(document, { id, orgId: this.home.id })).data.deactivateUser.id;
  }
  /** A legal hold on a user who has nothing. */
  async hold(): Promise<string> {
    const input = { orgId: this.home.id, userId: await this.user(), reason: 'A claim' };
    const document = 'mutation ($input: SetLegalHoldInput!) { setLegalHold(input: $input) { id } }';
    return (await this.service.client().graphql(document, { input })).data.setLegalHold.id;
  }
  async membership(): Promise<string> {
    const user = await this.user();
    const found = await this.service.client().get(`/api/v1/admin/memberships?userId=${user}`);
    return found.body.data[0].id;
  }
  async organization(): Promise<string> {
    return (await this.make.organization({ tenant: { id: this.home.tenantId } })).id;
  }
  async tenant(): Promise<string> {
    return (await this.make.tenant()).id;
  }
  /** The path and ticket of a signed link for a file of five bytes. */
  async uploadLink(agent: string): Promise<{ readonly uploadId: string; readonly ticket: string }> {
    const body = { filename: 'note.txt', contentType: 'text/plain', size: 5 };
    const { url } = (await this.owner.post(`/api/v1/ais/${agent}/data-sources/upload-token`, body)).body;
    const { pathname, searchParams } = new URL(url);
    return { uploadId: pathname.split('/').at(-1) ?? '', ticket: searchParams.get('ticket') ?? '' };
  }

  /** One thing of each kind, around one agent. */
  async things(visibility: AgentVisibility, group?: string): Promise<Things> {
    const agent = await this.agent(visibility, group);
    const { chat } = await this.awaiting(agent);
    const { messages } = (await this.owner.get(`/api/v1/chats/${chat}`)).body;
    const source = await this.source(agent);
    const items = await this.owner.get(`/api/v1/data-sources/${source}/knowledge`);
    return {
      agent,
      chat,
      file: await this.file(chat),
      response: await this.response(agent),
      run: messages.at(-1).runId,
      source,
      item: items.body.data[0].id,
      tool: await this.tool(agent),
      userInput: await this.userInput(agent),
      skill: await this.skill(agent),
      flow: await this.flow(agent),
      secret: await this.secret(agent),
    };
  }

  /** Everything that the lines of the table may use, at one visibility. */
  async setting(visibility: AgentVisibility): Promise<Setting> {
    const group = await this.group();
    return { ...(await this.#shared(group)), ...(await this.things(visibility, group)), visibility };
  }
  /** The settings of all visibilities, with one group and one connection for all. */
  async settings(): Promise<Readonly<Record<AgentVisibility, Setting>>> {
    const group = await this.group();
    const shared = await this.#shared(group);
    const pairs = await Promise.all(
      agentVisibilities.map(async (visibility) => {
        const things = await this.things(visibility, group);
        return [visibility, { ...shared, ...things, visibility }] as const;
      }),
    );
    return Object.fromEntries(pairs) as Record<AgentVisibility, Setting>;
  }

  async #shared(group: string): Promise<Omit<Setting, keyof Things | 'visibility'>> {
    return {
      world: this,
      group,
      connection: await this.connection(),
      category: await this.category(),
      user: await this.user(),
      membership: await this.membership(),
    };
  }

  async #madeBy(who: Person, path: string, body: unknown): Promise<string> {
    const reply = await who.post(path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.id;
  }
}

/** Settings without which some operations are refused for everybody. */
export const worldEnv = { GITHUB_APP_ID: '1', GITHUB_APP_PRIVATE_KEY: 'unused.pem' };

export const toolData = {
  description: 'Tells the weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  method: 'GET',
  url: 'https://api.example.com/weather',
};
