import { idOf } from './list-rows.ts';

interface ListCase {
  readonly name: string;
  readonly document: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** As the administrator of the organization; else as the person with 100,000 chats. */
  readonly isAdmin?: true;
}

const agents = 'query ($filter: AgentFilter) { agents(first: 20, filter: $filter) { nodes { id name } COUNT } }';
const page = (document: string) => document.replace('COUNT', '');
const counted = (document: string) => document.replace('COUNT', 'totalCount');
const audit = 'query ($filter: AuditFilter) { auditLog(first: 20, filter: $filter) { nodes { id action } COUNT } }';
const runs = 'query ($filter: RunFilter) { runs(first: 20, filter: $filter) { nodes { id } COUNT } }';
const chats =
  'query ($search: String, $agentId: ID) { chats(first: 20, search: $search, agentId: $agentId) { nodes { id name } COUNT } }';
const users = 'query ($search: String) { users(first: 20, search: $search) { nodes { id name } COUNT } }';
const items =
  'query ($id: ID!, $search: String, $status: [IndexStatus!]) { knowledgeItems(dataSourceId: $id, first: 20, search: $search, status: $status) { nodes { id name } COUNT } }';
const sources = 'query ($search: String) { dataSources(first: 20, search: $search) { nodes { id name } COUNT } }';
const usage = `query ($from: DateTime, $to: DateTime) { usage(from: $from, to: $to) { apiTokensUsed
  users(first: 20) { nodes { apiTokensUsed } } keys(first: 20) { nodes { apiTokensUsed } } models(first: 20) { nodes { apiTokensUsed } } } }`;
const daysAgo = (days: number, hours = 0) =>
  new Date(Math.floor(Date.now() / 86_400_000 - days) * 86_400_000 + hours * 3_600_000).toISOString();
/** Words that nothing contains: the search reads on to its end. */
const nowhere = 'zebrafinch';

export const listCases: readonly ListCase[] = [
  { name: 'agents of a member with many chats', document: page(agents) },
  { name: 'agents of a member, counted', document: counted(agents) },
  { name: 'agents of a member, shared', document: page(agents), variables: { filter: { scope: 'SHARED' } } },
  { name: 'agents of a member, private', document: page(agents), variables: { filter: { scope: 'PRIVATE' } } },
  { name: 'agents of a member, search: nothing', document: page(agents), variables: { filter: { search: nowhere } } },
  { name: 'agents of a member, search: counted', document: counted(agents), variables: { filter: { search: 'agent' } } },
  { name: 'agents of a member, rare category', document: page(agents), variables: { filter: { categoryId: idOf('cat', 50) } } },
  { name: 'agents of an administrator', document: page(agents), isAdmin: true },
  { name: 'agents of an administrator, counted', document: counted(agents), isAdmin: true },
  {
    name: 'agents of an administrator, private',
    document: page(agents),
    variables: { filter: { scope: 'PRIVATE' } },
    isAdmin: true,
  },
  {
    name: 'agents of an administrator, search: nothing',
    document: page(agents),
    variables: { filter: { search: nowhere } },
    isAdmin: true,
  },
  {
    name: 'agents of an administrator, rare category',
    document: page(agents),
    variables: { filter: { categoryId: idOf('cat', 50) } },
    isAdmin: true,
  },
  { name: 'chats', document: page(chats) },
  { name: 'chats, counted', document: counted(chats) },
  { name: 'chats, search: nothing', document: page(chats), variables: { search: nowhere } },
  { name: 'chats, search: counted', document: counted(chats), variables: { search: 'people' } },
  { name: 'chats with an agent', document: page(chats), variables: { agentId: idOf('ai', 10) } },
  {
    name: 'search of everything: nothing',
    document: 'query ($q: String!) { search(query: $q) { title } }',
    variables: { q: nowhere },
  },
  {
    name: 'search of everything: a word',
    document: 'query ($q: String!) { search(query: $q) { title } }',
    variables: { q: 'people ask' },
  },
  { name: 'audit', document: page(audit), isAdmin: true },
  { name: 'audit, counted', document: counted(audit), isAdmin: true },
  { name: 'audit by a rare action', document: counted(audit), variables: { filter: { action: 'deleteTenant' } }, isAdmin: true },
  {
    name: 'audit by an action that never was',
    document: counted(audit),
    variables: { filter: { action: 'deleteUser' } },
    isAdmin: true,
  },
  {
    name: 'audit by a frequent action, counted',
    document: counted(audit),
    variables: { filter: { action: 'action1' } },
    isAdmin: true,
  },
  { name: 'audit by a part of an action', document: counted(audit), variables: { filter: { action: 'agents' } }, isAdmin: true },
  { name: 'audit by actor', document: counted(audit), variables: { filter: { actorUserId: idOf('user', 7) } }, isAdmin: true },
  {
    name: 'audit by actor without entries',
    document: counted(audit),
    variables: { filter: { actorUserId: idOf('user', 99_999) } },
    isAdmin: true,
  },
  { name: 'audit by target', document: counted(audit), variables: { filter: { targetId: idOf('ai', 7) } }, isAdmin: true },
  {
    name: 'audit by target without entries',
    document: counted(audit),
    variables: { filter: { targetId: idOf('ai', 19_999) } },
    isAdmin: true,
  },
  {
    name: 'audit by a frequent target',
    document: counted(audit),
    variables: { filter: { targetId: idOf('ai', 1) } },
    isAdmin: true,
  },
  { name: 'audit by kind, counted', document: counted(audit), variables: { filter: { kind: 'READ' } }, isAdmin: true },
  { name: 'users', document: page(users), isAdmin: true },
  { name: 'users, counted', document: counted(users), isAdmin: true },
  { name: 'users, search: one', document: page(users), variables: { search: 'person77777@' }, isAdmin: true },
  { name: 'users, search: nothing', document: counted(users), variables: { search: nowhere }, isAdmin: true },
  { name: 'usage, 30 days', document: usage, variables: { from: daysAgo(30), to: daysAgo(0) }, isAdmin: true },
  { name: 'usage, 180 days', document: usage, variables: { from: daysAgo(180), to: daysAgo(0) }, isAdmin: true },
  { name: 'usage, all time', document: usage, isAdmin: true },
  {
    name: 'usage, 180 days and some hours',
    document: usage,
    variables: { from: daysAgo(180, 5), to: daysAgo(0, 7) },
    isAdmin: true,
  },
  {
    name: 'usage by day, a year',
    document: 'query ($from: DateTime) { usageDays(first: 100, from: $from) { nodes { day } } }',
    variables: { from: daysAgo(360) },
    isAdmin: true,
  },
  { name: 'runs of the organization', document: page(runs), isAdmin: true },
  { name: 'runs of the organization, counted', document: counted(runs), isAdmin: true },
  { name: 'runs that failed, counted', document: counted(runs), variables: { filter: { status: 'FAILED' } }, isAdmin: true },
  { name: 'runs of a user', document: counted(runs), variables: { filter: { userId: idOf('user', 1) } }, isAdmin: true },
  { name: 'runs rated down', document: counted(runs), variables: { filter: { feedback: 'DOWN' } }, isAdmin: true },
  { name: 'runs by words', document: page(runs), variables: { filter: { search: nowhere } }, isAdmin: true },
  {
    name: 'runs that failed, of a user',
    document: counted(runs),
    variables: { filter: { status: 'FAILED', userId: idOf('user', 3) } },
    isAdmin: true,
  },
  { name: 'runs of a member', document: counted(runs) },
  { name: 'sources of a member', document: page(sources) },
  { name: 'sources of a member, counted', document: counted(sources) },
  { name: 'sources, search: nothing', document: page(sources), variables: { search: nowhere } },
  { name: 'items', document: page(items), variables: { id: idOf('ds', 1) }, isAdmin: true },
  { name: 'items, counted', document: counted(items), variables: { id: idOf('ds', 1) }, isAdmin: true },
  { name: 'items that failed', document: page(items), variables: { id: idOf('ds', 1), status: ['FAILED'] }, isAdmin: true },
  { name: 'items, search: nothing', document: page(items), variables: { id: idOf('ds', 1), search: nowhere }, isAdmin: true },
  { name: 'items, search: counted', document: counted(items), variables: { id: idOf('ds', 1), search: nowhere }, isAdmin: true },
];
