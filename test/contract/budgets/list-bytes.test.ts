import {
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../../src/rest/compile.ts';
import { createApis } from '../../../src/start/app.ts';
import { makeLongLists, rowBytes, rowCount } from '../../support/apis/long-lists.ts';
import type { GraphQLReply } from '../../support/client.ts';
import { withService } from '../../support/service.ts';

/** Twelve rows of 20,000 bytes make four pages, and exceed the limit of a list without pages. */
const pageMaxBytes = 60_000;
const replyMaxBytes = 200_000;

/** How a list beyond the limit ends: shorter pages, a refusal, or rows that cannot be long. */
type End = 'shorter' | 'refused' | { readonly rowMaxBytes: number; readonly because: string };
const short = (rowMaxBytes: number, because: string): End => ({ rowMaxBytes, because });

/** Every root field of the schema that lists things, and every list of things below a thing. A new list must be added here. */
const ends: Readonly<Record<string, End>> = {
  'Query.agents': 'shorter',
  'Query.auditLog': 'shorter',
  'Query.chatMessages': 'shorter',
  'Query.chats': 'shorter',
  'Query.conversationItems': 'shorter',
  'Query.dataSources': 'shorter',
  'Query.datasetCases': 'shorter',
  'Query.experimentPairs': 'shorter',
  'Query.files': 'shorter',
  'Query.knowledgeItems': 'shorter',
  'Query.responseInputItems': 'shorter',
  'Query.vectorStoreFiles': 'shorter',
  'Query.vectorStores': 'shorter',
  'Query.agentSecrets': 'refused',
  'Query.agentTools': 'refused',
  'Query.flows': 'refused',
  'Query.skills': 'refused',
  'Query.userInputs': 'refused',
  'Chat.queue': 'refused',
  'Message.replies': 'refused',
  'Message.siblings': 'refused',
  'Agent.flows': 'refused',
  'Agent.secrets': 'refused',
  'Agent.skills': 'refused',
  'Agent.tools': 'refused',
  'Agent.userInputs': 'refused',
  'Agent.editors': short(100 * 800, 'at most 100, read with the row of the agent and counted with it'),
  'Agent.enabledTools': short(0, 'at most 20, read with the row of the agent and counted with it: see Query.agents'),
  'Agent.groups': short(100 * 400, 'at most 100 of a name of 200 characters'),
  'KnowledgeItem.omissions': short(0, 'one a kind, read with the row of the item'),
  'DataExport.counts': short(0, 'one a table, read with the row of the export'),
  'Erasure.report': short(0, 'a few lines a table, read with the row of the erasure'),
  'Invitation.groups': short(100 * 400, 'at most 100 of a name of 200 characters'),
  'Query.dataExports': short(9_000, 'a count for each of some 60 tables'),
  'Query.erasures': short(60_000, 'a line for each of some 60 tables and what became of its rows, with a reason of our own'),
  'Query.invitations': short(9_000, 'an address, what went wrong with its mail, and ids of groups'),
  'Query.legalHolds': short(9_000, 'a reason of 2,000 characters'),
  'Query.budgets': short(1_000, 'ids, numbers and times'),
  'Query.savedDocuments': short(63_000, 'a document of 20,000 characters and a description of 1,000; one has a few hundred'),
  'Query.mcpOauthClients': short(9_000, 'an address and an issuer of 2,000 characters; ids and scopes have a few dozen'),
  'Query.ownBudgets': short(1_000, 'ids, numbers and times of the budgets of one caller'),
  'ApiKey.budgets': short(4 * 1_000, 'at most four: by day or month, of tokens or money'),
  'Query.webhooks': short(16_000, 'an address of 2,000 characters, a description of 500, 100 ids of agents'),
  'Webhook.agents': short(100 * 400, 'at most 100, each read as a node'),
  'Query.feedback': short(9_000, 'a comment of 2,000 characters and 10 tags of 50'),
  'Chat.userInputs': short(0, 'read with the row of the chat and counted with it'),
  'Message.citations': short(0, 'read with the row of the message and counted with it'),
  'Message.files': short(90_000, 'at most 500 of a chat, with 16 KB of metadata, each read once'),
  'Message.parts': short(0, 'read with the row of the message and counted with it'),
  'Message.toolCalls': short(0, 'read with the row of the message and counted with it'),
  'Query.chatShares': short(3_000, 'ids, times and counts; ids of at most 100 readers'),
  'ChatShare.readers': short(100 * 800, 'at most 100 names and e-mails, each read as a node'),
  'Query.agentVersions': short(17_000, 'a note of 2,000 characters, a reason of as many, and at most 100 names'),
  'Query.agentVersionStatistics': short(1_000, 'counts for each version that answered in 92 days at most'),
  'Query.agentVersionContent': short(0, 'one version of one agent, whose members have limits'),
  'Query.agentVersionDiff': short(0, 'what differs between two versions of one agent, whose members have limits'),
  'Query.activeRuns': short(2_000, 'at most 500 rows of ids, times and counts'),
  'AuditEntry.changes': short(0, 'at most 100, read with the row of the entry and counted with it: see Query.auditLog'),
  'AuditEntry.targets': short(0, 'at most 100 things, each as its own look-up has it'),
  'Run.output': short(0, 'of one run: bounded by ANSWER_MAX_CHARS'),
  'User.organizations': short(2_000, 'at most 100 names of 200 characters'),
  'Query.agentCategories': short(500, 'at most 500 names of 100 characters'),
  'Query.apiKeys': short(5_000, 'a name of 200 characters and scopes of our own'),
  'Query.connections': short(60_000, 'at most 500 of an organization; 100 scopes of 500 characters'),
  'Query.schedules': short(60_000, 'a prompt of 10,000 characters, user inputs of 10,000 and a name of 100'),
  'Schedule.userInputs': short(30_000, 'at most 10,000 characters'),
  'Query.experiments': short(120_000, 'at most 20 scorers with a rubric or schema of 4,000 characters, and figures'),
  'Query.datasets': short(9_000, 'a name of 200 characters and a description of 2,000'),
  'Query.prompts': short(100_000, 'a text of 20,000 characters and a name of 100'),
  'Prompt.groups': short(100 * 400, 'at most 100 of a name of 200 characters'),
  'Prompt.variables': short(0, 'at most 20, read with the row of the prompt'),
  'Query.chatImports': short(30_000, 'a filename of 200 characters, and at most 5 names of 200 for each of 14 kinds'),
  'ChatImport.omissions': short(0, 'one a kind, read with the row of the import'),
  'Query.memories': short(9_000, 'a text of 2,000 characters and a key of 100'),
  'Query.binnedChats': short(1_000, 'a name of 200 characters'),
  'Query.projects': short(61_000, 'a name of 200 characters and instructions of 20,000'),
  'Project.agents': short(0, 'at most 50, which lists of agents end'),
  'Project.dataSources': short(0, 'at most 50, which lists of sources end'),
  'Project.groups': short(50 * 400, 'at most 50 of a name of 200 characters'),
  'Query.chatTags': short(300, 'at most 200 of 50 characters'),
  'Query.memberships': short(500, 'ids'),
  'Query.modelCatalog': short(1_000, 'what the operator configured, and at most 1,000 names of 200 characters'),
  'Query.models': short(5_000, 'what the operator configured'),
  'Query.tools': short(20_000, 'what this version has'),
  'Query.groups': short(1_000, 'a name of 200 characters; their members are a list of their own'),
  'Query.myGroups': short(1_000, 'a name of 200 characters; their members are a list of their own'),
  'Query.openDocuments': short(60_000, 'a name of 500 characters, and ten principals of each access list that a page has'),
  'Query.unidentifiedPeople': short(2_000, 'a name of 200 characters and an e-mail of 320'),
  'Query.sourceIdentities': short(2_000, 'at most 502: an e-mail of 320 characters, ids, and a connection'),
  'Query.search': short(2_000, 'at most 50 names of 200 characters, with snippets of 202'),
  'Query.organizations': short(2_000, 'a name of 200 characters'),
  'Query.tenants': short(2_000, 'a name of 200 characters'),
  'Query.usageDays': short(500, 'two counts of a day'),
  'Query.users': short(2_000, 'a name of 200 characters and an e-mail of 320'),
  'Query.vectorStoreSearch': short(100_000, 'at most 50 passages of 480 tokens, each with 16 attributes of 512 characters'),
  'Query.dataSourceRuns': short(3_000, 'counts and times; a message of 1,000 characters, the name of a document of 500'),
  'Query.runs': short(20_000, 'ids, times and counts; a message of an error, and the titles of at most 8 passages'),
  'Query.runTags': short(500, 'at most 200 tags of 50 characters, with counts'),
  'Query.savedRunFilters': short(9_000, 'at most 50, each a name of 100 characters and an address of 2,000'),
  'Query.unansweredQuestions': short(
    30_000,
    'a run as of Query.runs, a question of 2,000 characters, the titles of at most 8 passages',
  ),
  'Query.connectionEntries': short(10_000, 'names and paths, as the service of the connection has them'),
  'Query.searchKnowledge': short(100_000, 'at most 50 passages of 480 tokens, with the texts around them'),
  'AgentFlow.versions': short(0, 'at most 100, read with the row of the flow and counted with it: see Query.flows'),
  'AgentFlow.warnings': short(500, 'at most one for each step that has no effect, in words of our own'),
  'AgentSkill.warnings': short(500, 'at most one, in words of our own'),
  'AgentTool.warnings': short(500, 'at most one, in words of our own'),
  'AgentUserInput.warnings': short(500, 'at most one, in words of our own'),
  'Run.steps': short(0, 'of one run: at most 100 steps, with the titles of at most 8 passages each'),
  'VectorStore.metadata': short(0, 'read with the row of the store and counted with it: see Query.vectorStores'),
  'VectorStoreFile.attributes': short(0, 'read with the row of the file and counted with it: see Query.vectorStoreFiles'),
  'DataSource.warnings': short(500, 'at most one, in words of our own'),
  'Agent.warnings': short(500, 'at most one, in words of our own'),
  'Query.grants': short(30_000, 'ids and times: at most 100 connections and 100 agents for each of 500 agents'),
  'Query.guardCounts': short(200, 'a kind and a number; at most 9'),
  'Query.nodes': short(0, 'at most 100 things, each as its own look-up has it'),
  'Run.files': short(0, 'of one run: bounded by ANSWER_MAX_CHARS'),
  'Run.flowSteps': short(0, 'at most 20 steps, of texts of 4 kB'),
  'Run.citations': short(0, 'of one run: bounded by ANSWER_MAX_CHARS'),
  'Run.messages': short(0, 'of one run: bounded by ANSWER_MAX_CHARS'),
  'Run.toolCalls': short(0, 'of one run: bounded by ANSWER_MAX_CHARS'),
  'Run.warnings': short(500, 'one for each tool of an agent, which it names'),
};

/** Lists of REST whose root field has another list, or none. */
const endsOfRoutes: Readonly<Record<string, End>> = {
  listDataSourcesOfAgent: 'refused',
  getVectorStoreFileContent: 'shorter',
};
const endOf = ({ row, main }: Route): End | undefined => endsOfRoutes[row.operationId] ?? ends[`Query.${main.rootField.name}`];

/** The GraphQL query of each list. `$after` is its cursor. */
const queries: Readonly<Record<string, string>> = {
  'Query.agents':
    'agents(first: 100, after: $after) { nodes { id instructions enabledTools { ... on ImageGenerationTool { model } } } PAGE }',
  'Query.auditLog': 'auditLog(first: 100, after: $after) { nodes { id changes { values } } PAGE }',
  'Query.chatMessages': 'chatMessages(chatId: "{chatId}", first: 100, after: $after) { nodes { id content } PAGE }',
  'Query.chats': 'chats(first: 100, after: $after) { nodes { id userInputs { value } } PAGE }',
  'Query.conversationItems':
    'conversationItems(id: "{conversationId}", first: 100, after: $after) { nodes { id ... on MessageItem { text } } LIST }',
  'Query.dataSources': 'dataSources(first: 100, after: $after) { nodes { id settings { ... on ApiSettings { payload } } } PAGE }',
  'Query.datasetCases': 'datasetCases(datasetId: "{datasetId}", first: 100, after: $after) { nodes { id question } PAGE }',
  'Query.experimentPairs':
    'experimentPairs(experimentId: "{experimentId}", first: 100, after: $after) { nodes { id: caseId results { answer } } PAGE }',
  'Query.files': 'files(first: 100, after: $after) { nodes { id filename } PAGE }',
  'Query.knowledgeItems':
    'knowledgeItems(dataSourceId: "{dataSourceId}", first: 100, after: $after) { nodes { id metadata } PAGE }',
  'Query.vectorStoreFiles':
    'vectorStoreFiles(vectorStoreId: "{vectorStoreId}", first: 100, after: $after) { nodes { id attributes { key value } } PAGE }',
  'Query.vectorStores': 'vectorStores(first: 100, after: $after) { nodes { id metadata { key value } } PAGE }',
  'Query.agentSecrets': 'agentSecrets(agentId: "{aiId}") { id }',
  'Query.agentTools': 'agentTools(agentId: "{aiId}") { id }',
  'Query.flows': 'flows(agentId: "{aiId}") { id }',
  'Query.skills': 'skills(agentId: "{aiId}") { id }',
  'Query.userInputs': 'userInputs(agentId: "{aiId}") { id }',
  'Agent.flows': 'agent(id: "{aiId}") { flows { id } }',
  'Agent.secrets': 'agent(id: "{aiId}") { secrets { id } }',
  'Agent.skills': 'agent(id: "{aiId}") { skills { id } }',
  'Agent.tools': 'agent(id: "{aiId}") { tools { id } }',
  'Agent.userInputs': 'agent(id: "{aiId}") { userInputs { id } }',
  'Chat.queue': 'chat(id: "{chatId}") { queue { id } }',
  'Message.replies': 'chat(id: "{chatId}") { messages(first: 1) { nodes { replies { id } } } }',
  'Message.siblings': 'chat(id: "{chatId}") { messages(last: 1) { nodes { siblings { id } } } }',
};

const { schema, routes } = createApis();
const { service, make } = await withService('web', {
  env: { LIST_PAGE_MAX_BYTES: String(pageMaxBytes), REPLY_MAX_BYTES: String(replyMaxBytes) },
});

const ann = await make.person({ role: 'ADMIN' });
const names = await makeLongLists(service, ann);

describe('the table of lists', () => {
  it('has every list of the schema', () => {
    const query = schema.getQueryType()?.getFields() ?? {};
    const roots = Object.values(query)
      .filter(isPageOrList)
      .map(({ name }) => `Query.${name}`);
    const below = Object.values(schema.getTypeMap()).flatMap((type) =>
      isObjectType(type) && isNode(type)
        ? Object.values(type.getFields())
            .filter(isListOfThings)
            .map(({ name }) => `${type.name}.${name}`)
        : [],
    );
    expect([...roots, ...below].sort()).toEqual(Object.keys(ends).sort());
  });

  it('has a query for each that may be long', () => {
    const long = Object.keys(ends).filter((name) => typeof ends[name] === 'string' && name !== 'Query.responseInputItems');
    expect(Object.keys(queries).sort()).toEqual(long.sort());
  });

  it('names only short rows whose largest page is bounded', () => {
    for (const [name, end] of Object.entries(ends)) {
      if (typeof end !== 'string') expect(end.rowMaxBytes * 100, name).toBeLessThan(16 * 1024 * 1024);
    }
  });

  it('knows REST lists with pages only by cursor', () => {
    for (const { row, main } of routes) {
      if (row.operationId in endsOfRoutes) continue;
      const isPage = getNamedType(main.rootField.type).name.endsWith('Connection');
      // REST answers it whole, so its rows must be short.
      const isWhole = isPage && row.terms?.whole === true;
      if (isWhole) expect(ends[`Query.${main.rootField.name}`], row.operationId).toBeTypeOf('object');
      else if (isPage) expect(row.page ?? row.reply ?? row.query?.cursor, row.operationId).toBeDefined();
    }
  });
});

const paged = Object.keys(ends).filter((name) => ends[name] === 'shorter' && queries[name] !== undefined);
const unpaged = Object.keys(ends).filter((name) => ends[name] === 'refused' && queries[name] !== undefined);

describe('a list by GraphQL', () => {
  it.each(paged)('%s has shorter pages, and its cursor misses nothing', async (name) => {
    const query = written(
      `query ($after: String) { ${queries[name]} }`
        .replace('PAGE', 'pageInfo { hasNextPage endCursor } totalCount')
        .replace('LIST', 'pageInfo { hasNextPage endCursor }'),
    );
    const seen: string[] = [];
    /** A list that a third-party format reads too does not count its things: the database was given so many. */
    let total = rowCount;
    for (let after: string | null = null, pages = 0; pages === 0 || after !== null; pages += 1) {
      const data = await ann.ask(query, { after });
      const page = data[name.slice('Query.'.length)];
      expect(JSON.stringify(page.nodes).length).toBeLessThan(pageMaxBytes + 2 * rowBytes);
      expect(page.nodes.length).toBeGreaterThan(0);
      seen.push(...page.nodes.map(({ id }: { id: string }) => id));
      total = page.totalCount ?? total;
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    }
    expect(seen.length).toBe(total);
    expect(new Set(seen).size).toBe(total);
    expect(total).toBeGreaterThanOrEqual(rowCount);
  });

  it('Chat.messages has shorter pages, and its cursors miss nothing either way', async () => {
    for (const [size, cursor, goesOn] of [
      ['first', 'after', 'hasNextPage'],
      ['last', 'before', 'hasPreviousPage'],
    ] as const) {
      const seen = new Set<string>();
      for (let place: string | null = null, hasMore = true; hasMore; ) {
        const query = `query ($place: String) { chat(id: "{chatId}") { messages(${size}: 100, ${cursor}: $place) {
          nodes { id content } pageInfo { ${goesOn} startCursor endCursor } } } }`;
        const { data }: GraphQLReply = await ann.graphql(written(query), { place });
        const { messages } = data.chat;
        expect(JSON.stringify(messages.nodes).length).toBeLessThan(pageMaxBytes + 2 * rowBytes);
        for (const { id } of messages.nodes) seen.add(id);
        place = size === 'first' ? messages.pageInfo.endCursor : messages.pageInfo.startCursor;
        hasMore = messages.pageInfo[goesOn];
      }
      expect(seen.size).toBe(rowCount);
    }
  });

  it.each(unpaged)('%s is refused', async (name) => {
    const { errors } = await ann.graphql(written(`{ ${queries[name]} }`));
    expect(errors?.[0].extensions.code).toBe('REPLY_TOO_LARGE');
    expect(errors?.[0].message).toContain(`${replyMaxBytes} bytes`);
  });
});

const longLists = routes.filter((route) => route.row.method === 'get' && typeof endOf(route) === 'string');

describe('a list by REST', () => {
  it.each(longLists.map((route) => [route.row.operationId, route] as const))('%s is shorter or refused', async (_id, route) => {
    const path = written(route.row.path);
    const end = endOf(route);
    const size = 'first' in (route.row.query ?? {}) ? 'first' : 'limit';
    const { status, body } = await ann.get(end === 'shorter' ? `${path}?${size}=100` : path);
    if (end === 'refused') return expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'reply_too_large' });
    expect(status).toBe(200);
    expect(JSON.stringify(body).length).toBeLessThan(replyMaxBytes);
    expect(body.data.length).toBeLessThan(rowCount);
    expect(body.nextCursor ?? body.pagination?.nextCursor ?? body.has_more).toBeTruthy();
  });

  it('by number is refused instead: the next number would leave out what this page could not hold', async () => {
    for (const path of [
      `/api/v1/data-sources?limit=12&page=1`,
      `/api/v1/data-sources/${names.get('dataSourceId')}/knowledge?first=12&page=1`,
    ]) {
      const { status, body } = await ann.get(path);
      expect({ status, code: body.error.code, param: body.error.param }).toEqual({
        status: 400,
        code: 'reply_too_large',
        param: path.includes('first') ? 'first' : 'limit',
      });
    }
  });

  it.each(['', '/files'])('without pages of a chat is refused: %s', async (path) => {
    const { status, body } = await ann.get(`/api/v1/chats/${names.get('chatId')}${path}`);
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'reply_too_large' });
  });

  it('of a conversation goes on behind items that fill a page each', async () => {
    const items = Array.from({ length: 3 }, () => ({ role: 'user', content: 'x'.repeat(pageMaxBytes + 1) }));
    const { body: conversation } = await ann.post('/api/v1/conversations', { items });
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      for (let after = '', hasMore = true; hasMore; ) {
        const { body } = await ann.get(`/api/v1/conversations/${conversation.id}/items?order=${order}${after}`);
        expect(body.data).toHaveLength(1);
        seen.push(body.last_id);
        after = `&after=${body.last_id}`;
        hasMore = body.has_more;
      }
      expect(new Set(seen).size).toBe(items.length);
    }
  });

  it('of input items goes on behind its last', async () => {
    const seen: string[] = [];
    for (let after = '', hasMore = true; hasMore; ) {
      const { body } = await ann.get(`/api/v2/responses/${names.get('responseId')}/input_items?limit=100&order=asc${after}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      after = `&after=${body.last_id}`;
      hasMore = body.has_more;
    }
    expect(seen).toEqual(Array.from({ length: rowCount }, (_, index) => `msg_in_${index + 1}`));
  });
});

describe('several lists by one statement', () => {
  it('are refused when the parts of an agent are too long together', async () => {
    const { body: agent } = await ann.post('/api/v1/ais', { name: 'Long', description: '', instructions: '', src: '' });
    const text = 'x'.repeat(rowBytes);
    for (let index = 0; index < rowCount / 2; index += 1) {
      await ann.post(`/api/v1/ais/${agent.id}/skills`, { name: `Skill ${index}`, content: text });
      const versions = [{ version: 1, data: { steps: [{ id: 'said', type: 'prompt', text }] } }];
      await ann.post(`/api/v1/ais/${agent.id}/flows`, { name: `Flow ${index}`, enabled: false, versions });
    }
    const read = (parts: string) => ann.graphql(`query ($id: ID!) { agent(id: $id) { ${parts} } }`, { id: agent.id });
    for (const kind of ['skills', 'flows']) {
      const { data } = await read(`${kind} { id }`);
      expect(data.agent[kind]).toHaveLength(rowCount / 2);
    }
    const { data, errors } = await read('skills { id } flows { id }');
    expect(data.agent).toBeNull();
    expect(errors?.[0].extensions.code).toBe('REPLY_TOO_LARGE');
  });
});

function written(text: string): string {
  return text.replaceAll(/\{(\w+Id)\}/g, (_match, name) => names.get(name) ?? expect.fail(name));
}

type Field = GraphQLField<unknown, unknown>;

/** A connection, a list, or a type that holds one. */
function isPageOrList(field: Field): boolean {
  const type = getNamedType(field.type);
  return (
    isListType(getNullableType(field.type)) ||
    (isObjectType(type) && ['nodes', 'hits', 'passages', 'results'].some((name) => name in type.getFields()) && !isNode(type))
  );
}

/** A node holds lists of its own, each with a line in the table. */
function isNode(type: GraphQLObjectType): boolean {
  return type.getInterfaces().some(({ name }) => name === 'Node');
}

function isListOfThings(field: Field): boolean {
  return isListType(getNullableType(field.type)) && isCompositeType(getNamedType(field.type));
}
