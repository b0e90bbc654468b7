import type { Text } from '../../../text/text.ts';
import type { AuditRowFragment } from './documents.ts';

/** The things that operations are about, as people call them. */
function nounWords(t: Text['t']): Readonly<Record<string, string>> {
  return {
    agent: t('Agent'),
    agents: t('Agents'),
    agentCategory: t('Category of agents'),
    agentGrants: t('What somebody grants an agent'),
    agentProfile: t('Profile of an agent'),
    agentSecret: t('Secret'),
    agentTool: t('Tool'),
    apiKey: t('Key'),
    apiKeys: t('Keys'),
    auditLog: t('Audit log'),
    chat: t('Chat'),
    chats: t('Chats'),
    connection: t('Connection'),
    connections: t('Connections'),
    dataExport: t('Export'),
    dataRetention: t('Retention'),
    dataSource: t('Knowledge source'),
    dataSources: t('Knowledge sources'),
    file: t('File'),
    flow: t('Flow'),
    group: t('Group'),
    invitation: t('Invitation'),
    knowledgeItem: t('Document'),
    legalHold: t('Legal hold'),
    mcpServer: t('MCP server'),
    membership: t('Membership'),
    memory: t('Memory'),
    memories: t('Memories'),
    message: t('Message'),
    operator: t('Operator'),
    organization: t('Organization'),
    organizationData: t('Data of the organization'),
    otherSessions: t('Other sessions'),
    ownership: t('Ownership'),
    passkey: t('Passkey'),
    password: t('Password'),
    person: t('Person'),
    personData: t('Data of a person'),
    provider: t('Groups of the identity provider'),
    run: t('Run'),
    runs: t('Runs'),
    schedule: t('Schedule'),
    session: t('Session'),
    signInLink: t('Sign-in link'),
    skill: t('Skill'),
    tenant: t('Tenant'),
    user: t('Person'),
    users: t('People'),
    userInput: t('Variable'),
    vectorStore: t('Vector store'),
    webhook: t('Webhook'),
    webhookSecret: t('Secret of a webhook'),
  };
}

/** What was done, as a participle behind the noun: "Agent changed". */
function verbWords(t: Text['t']): Readonly<Record<string, string>> {
  return {
    accept: t('accepted'),
    add: t('added'),
    approve: t('approved'),
    attach: t('attached'),
    authorize: t('connected'),
    cancel: t('cancelled'),
    create: t('created'),
    deactivate: t('deactivated'),
    delete: t('deleted'),
    detach: t('detached'),
    end: t('ended'),
    erase: t('erased'),
    export: t('exported'),
    follow: t('followed'),
    import: t('imported'),
    invite: t('invited'),
    put: t('changed'),
    rate: t('rated'),
    reactivate: t('reactivated'),
    redeliver: t('sent again'),
    refresh: t('read anew'),
    rename: t('renamed'),
    reset: t('reset'),
    retry: t('tried again'),
    revoke: t('revoked'),
    rotate: t('replaced'),
    run: t('run'),
    send: t('sent'),
    set: t('set'),
    store: t('stored'),
    test: t('tested'),
    transfer: t('handed over'),
    update: t('changed'),
    upload: t('uploaded'),
  };
}

/** `agentSecret` as "agent secret". */
export const plainWords = (name: string) => name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();

/** What an entry says in a few words: "Agent changed". Operations that have no words here keep their own, spelled out. */
export function getTitle(t: Text['t'], { action, kind }: Pick<AuditRowFragment, 'action' | 'kind'>): string {
  const nouns = nounWords(t);
  if (kind === 'READ' || action.includes(',') || nouns[action] !== undefined) {
    const things = action.split(', ').map((name) => nouns[name] ?? plainWords(name));
    return t('Looked at: {things}', { things: [...new Set(things)].join(', ') });
  }
  return operationWords(t, action);
}

/** An operation in words: `createAgent` as "Agent created". */
export function operationWords(t: Text['t'], action: string): string {
  const verbs = verbWords(t);
  const [, verb = action, rest = ''] = /^([a-z]+)(.*)$/.exec(action) ?? [];
  const own: Readonly<Record<string, string>> = {
    invite: t('Person invited'),
    signIn: t('Signed in'),
    signOut: t('Signed out'),
    acceptInvitation: t('Invitation accepted'),
  };
  if (own[action] !== undefined) return own[action];
  const words = verbs[verb];
  const noun = `${rest.slice(0, 1).toLowerCase()}${rest.slice(1)}`;
  if (words === undefined || rest === '') {
    const plain = plainWords(action);
    return plain.slice(0, 1).toUpperCase() + plain.slice(1);
  }
  const nounText = nounWords(t)[noun] ?? nounWords(t)[noun.replace(/s$/, '')];
  const plain = plainWords(noun);
  return `${nounText ?? plain.slice(0, 1).toUpperCase() + plain.slice(1)} ${words}`;
}

/** Operations that administrators look for; the filter offers them. */
export const offeredActions = [
  'createAgent',
  'updateAgent',
  'deleteAgent',
  'createApiKey',
  'revokeApiKey',
  'invite',
  'updateMembership',
  'deleteMembership',
  'deactivateUser',
  'reactivateUser',
  'createSignInLink',
  'createGroup',
  'updateGroup',
  'deleteGroup',
  'addDataSource',
  'updateDataSource',
  'deleteDataSource',
  'transferOwnership',
  'exportPersonData',
  'exportOrganizationData',
  'erasePerson',
  'setLegalHold',
  'endLegalHold',
  'updateDataRetention',
  'updateOrganization',
  'createWebhook',
  'updateWebhook',
  'createSchedule',
  'updateSchedule',
] as const;

/** A value of a change, without what only machines read. */
export function valueWords(
  { t, number, date }: Text,
  values: readonly (string | number | boolean | null)[] | null,
  member: string,
): string {
  if (values === null) return t('nothing');
  if (values.length === 0) return t('an empty list');
  return values.map((value) => oneValue({ t, number, date }, value, member)).join(', ');
}

function oneValue(
  { t, number, date }: Pick<Text, 't' | 'number' | 'date'>,
  value: string | number | boolean | null,
  member: string,
): string {
  if (value === null) return t('nothing');
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (typeof value === 'number') return number(value);
  if (/At$/.test(member) && !Number.isNaN(Date.parse(value))) return date(value);
  if (/^[A-Z][A-Z_:]+$/.test(value)) return value.toLowerCase().replaceAll('_', ' ').replace(':', ', ');
  // Ids end in the part that tells them apart.
  if (/^[a-z]{2,7}_[a-z0-9]{20,}$/.test(value)) return `…${value.slice(-6)}`;
  return value;
}
