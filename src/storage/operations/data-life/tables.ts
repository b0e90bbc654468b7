import type { Prisma } from '../../generated/client.ts';

/** Whose rows: of one person in one organization, or of the whole organization. */
export interface DataPlace {
  readonly orgId: string;
  readonly userId: string | undefined;
}
type Where = object;

/** How the rows of a table are found for an export and an erasure, and why some are not. */
export type TableRule =
  | {
      /** The rows of a person. `undefined`: the table has rows of organizations only. */
      readonly ofPerson: ((place: { readonly orgId: string; readonly userId: string }) => Where) | undefined;
      /** All rows of an organization. */
      readonly ofOrganization: (orgId: string) => Where;
      /** Columns besides the secret ones that an export leaves out. */
      readonly omit?: readonly string[];
      /** The columns that name bytes, which an export has as attachments. */
      readonly blobs?: readonly string[];
      /** The rows that an export has; absent: all. What its user has deleted is not in it. */
      readonly exported?: Where;
      /**
       * `delete`: an erasure deletes the rows of the person. `cascade`: they go with the rows that they belong to. Any other: a step of
       * erasures.ts deals with it.
       */
      readonly erase: 'delete' | 'cascade' | 'step';
    }
  /** Neither exported nor erased by itself, and why. */
  | { readonly leftOut: string };

/** Never in an export: secrets, hashes of them, and keys of blobs. */
export const secretColumns: readonly string[] = [
  'hash',
  'sealed',
  'confirmHash',
  'mailHash',
  'wrapped',
  'blobKey',
  'contentBlobKey',
  'documentsBlobKey',
];

const ownedRule = (
  erase: 'delete' | 'cascade' | 'step',
  more: { readonly omit?: readonly string[]; readonly blobs?: readonly string[] } = {},
): TableRule => ({
  ofPerson: ({ orgId, userId }) => ({ orgId, userId }),
  ofOrganization: (orgId) => ({ orgId }),
  erase,
  ...more,
});
const ownedAs = (column: string, erase: 'delete' | 'cascade' | 'step', omit?: readonly string[]): TableRule => ({
  ofPerson: ({ orgId, userId }) => ({ orgId, [column]: userId }),
  ofOrganization: (orgId) => ({ orgId }),
  erase,
  ...(omit === undefined ? {} : { omit }),
});
const isBinned: Where = { isBinned: true };
/** Rows of chats that are not in the bin. */
const ofChats = (rule: TableRule, exported: Where = { NOT: { chat: isBinned } }): TableRule =>
  'leftOut' in rule ? rule : { ...rule, exported };
/** Rows that belong to one of another table. */
const within = (relation: string, person: string, blobs?: readonly string[]): TableRule => ({
  ofPerson: ({ orgId, userId }) => ({ [relation]: { orgId, [person]: userId } }),
  ofOrganization: (orgId) => ({ [relation]: { orgId } }),
  erase: 'cascade',
  ...(blobs === undefined ? {} : { blobs }),
});
const ofOrganizations: TableRule = { ofPerson: undefined, ofOrganization: (orgId) => ({ orgId }), erase: 'step' };

const derivedReason = 'It is made from the documents, and made anew from them.';
const mirroredReason = 'It is a copy of who may open what at a source, and read anew from there.';
const ofService = 'It belongs to the service itself and has nothing of a person.';
const shortLived = 'It is deleted within a day or two, and holds no text of a person.';

/**
 * Every table, also one that is added later: without a line here the code does not compile. A table that has rows of people says what happens to them.
 */
export const tableRules: Readonly<Record<Prisma.ModelName, TableRule>> = {
  Tenant: { leftOut: ofService },
  Organization: { ofPerson: undefined, ofOrganization: (orgId) => ({ id: orgId }), erase: 'step' },
  User: {
    ofPerson: ({ userId }) => ({ id: userId }),
    ofOrganization: (orgId) => ({ memberships: { some: { orgId } } }),
    erase: 'step',
  },
  Membership: ownedRule('step'),
  Removal: { leftOut: 'It has hashes only, by which nobody who was removed joins again by a sign-in.' },
  Password: {
    ofPerson: ({ userId }) => ({ userId }),
    ofOrganization: (orgId) => ({ user: { memberships: { some: { orgId } } } }),
    erase: 'cascade',
  },
  Passkey: {
    ofPerson: ({ userId }) => ({ userId }),
    ofOrganization: (orgId) => ({ user: { memberships: { some: { orgId } } } }),
    erase: 'cascade',
  },
  PasskeyChallenge: { leftOut: 'It is used up within minutes. An erasure deletes those of the person.' },
  Invitation: ownedRule('delete'),
  SignInAttempt: { leftOut: 'It counts hashes for some minutes.' },
  ApiKey: ownedRule('step'),
  OauthClient: { leftOut: 'It says what programs call themselves, and names nobody.' },
  OauthRecord: { leftOut: 'It has hashes of tokens of a key, and goes with the key.' },
  Session: ownedRule('delete'),
  ScimUser: ownedRule('delete'),
  ScimGroup: ofOrganizations,
  SignInIdentity: ownedRule('delete'),
  SignInLink: ownedRule('delete'),
  Group: ownedAs('ownerUserId', 'step'),
  GroupMember: {
    ofPerson: ({ orgId, userId }) => ({ userId, group: { orgId } }),
    ofOrganization: (orgId) => ({ group: { orgId } }),
    erase: 'delete',
  },
  Agent: ownedRule('step'),
  AgentToolName: within('agent', 'userId'),
  AgentEditor: {
    ofPerson: ({ orgId, userId }) => ({ userId, agent: { orgId } }),
    ofOrganization: (orgId) => ({ agent: { orgId } }),
    erase: 'delete',
  },
  AgentUser: { leftOut: 'It says which chats there are, and a trigger keeps it: it goes with the chats.' },
  AgentGroup: within('agent', 'userId'),
  AgentMessageCount: { leftOut: 'It is added to its agent within seconds, and names nobody.' },
  AgentRating: {
    ofPerson: ({ orgId, userId }) => ({ userId, agent: { orgId } }),
    ofOrganization: (orgId) => ({ agent: { orgId } }),
    erase: 'step',
  },
  AgentCategory: ofOrganizations,
  AgentTool: within('agent', 'userId'),
  AgentUserInput: within('agent', 'userId'),
  AgentSkill: within('agent', 'userId'),
  AgentFlow: within('agent', 'userId'),
  AgentFlowVersion: {
    ofPerson: ({ orgId, userId }) => ({ flow: { agent: { orgId, userId } } }),
    ofOrganization: (orgId) => ({ flow: { agent: { orgId } } }),
    erase: 'cascade',
  },
  AgentSecret: within('agent', 'userId'),
  // An erasure takes the person from the versions that stay.
  AgentVersion: { ...within('agent', 'userId'), erase: 'step' },
  AgentDraftChange: { ...within('agent', 'userId'), erase: 'step' },
  AgentGrant: ownedRule('delete'),
  Connection: ownedAs('ownerUserId', 'delete', ['renewalOwner', 'renewalUntil']),
  ConnectionAttempt: ownedAs('ownerUserId', 'delete'),
  PersonAccount: ownedRule('delete'),
  UsedTicket: { leftOut: shortLived },
  CallApproval: ownedRule('delete'),
  SavedDocument: ofOrganizations,
  McpOauthClient: ofOrganizations,
  Webhook: { ...ofOrganizations, omit: ['secret', 'previousSecret'] },
  // What a receiver answered is for administrators.
  WebhookDelivery: ownedRule('delete', { omit: ['lastBodyStart', 'lastError'] }),
  DataSource: ownedAs('ownerUserId', 'step', ['syncState']),
  AgentDataSource: within('agent', 'userId'),
  // What is being read just now, and where the reading goes on: names of documents, gone a second later.
  SourceRun: { ...within('dataSource', 'ownerUserId'), omit: ['currentItem', 'place'] },
  // What was read of a MIRRORED source is a copy of what each person may open there, and nobody's to take away.
  KnowledgeItem: {
    ofPerson: ({ orgId, userId }) => ({ dataSource: { orgId, ownerUserId: userId, access: 'LENT' } }),
    ofOrganization: (orgId) => ({ dataSource: { orgId, access: 'LENT' } }),
    erase: 'cascade',
    blobs: ['contentBlobKey'],
  },
  PermissionPrincipal: { leftOut: mirroredReason },
  PermissionMember: { leftOut: mirroredReason },
  AccessSet: { leftOut: mirroredReason },
  AccessSetPrincipal: { leftOut: mirroredReason },
  AccessRule: { leftOut: mirroredReason },
  PermissionReading: { leftOut: mirroredReason },
  Chunk: { leftOut: derivedReason },
  ChunkText: { leftOut: derivedReason },
  LexemeFrequency: { leftOut: derivedReason },
  LexemeNumbering: { leftOut: ofService },
  LexemeStatistics: { leftOut: derivedReason },
  SearchIndex: { leftOut: ofService },
  SearchIndexChange: { leftOut: 'It names ids of changed documents until the search index has them.' },
  EmbeddingSpace: { leftOut: ofService },
  ChunkEmbedding: { leftOut: derivedReason },
  ItemEmbedding: { leftOut: derivedReason },
  SourceEmbedding: { leftOut: derivedReason },
  VectorStore: within('dataSource', 'ownerUserId'),
  VectorStoreFileBatch: {
    ofPerson: ({ orgId, userId }) => ({ store: { dataSource: { orgId, ownerUserId: userId } } }),
    ofOrganization: (orgId) => ({ store: { dataSource: { orgId } } }),
    erase: 'cascade',
  },
  VectorStoreBatchFile: { leftOut: 'It joins a batch with its documents, which are there.' },
  Chat: ofChats(ownedRule('step'), { NOT: isBinned }),
  Message: ofChats(within('chat', 'userId')),
  MessageFeedback: ofChats(ownedRule('delete'), { NOT: { message: { chat: isBinned } } }),
  ChatRead: ofChats({
    ofPerson: ({ orgId, userId }) => ({ userId, chat: { orgId } }),
    ofOrganization: (orgId) => ({ chat: { orgId } }),
    erase: 'delete',
  }),
  ChatImport: ownedRule('delete', { omit: ['windowStart', 'windowDone'] }),
  ChatOrigin: ofChats(within('chat', 'userId')),
  ChatFile: ofChats(within('chat', 'userId', ['blobKey'])),
  CodeState: ofChats(within('chat', 'userId')),
  BinnedRun: { leftOut: 'It has runs of chats in the bin, and goes with them.' },
  ChatShare: ownedRule('delete', { omit: ['makerKeyId', 'makerLevel'] }),
  ChatShareReader: {
    ofPerson: ({ orgId, userId }) => ({ userId, share: { orgId } }),
    ofOrganization: (orgId) => ({ share: { orgId } }),
    erase: 'delete',
  },
  File: ownedRule('step', { blobs: ['blobKey'] }),
  FileUpload: ownedRule('step'),
  FileUploadPart: within('upload', 'userId'),
  // What others use is handed over, the rest is deleted.
  Project: ownedRule('step'),
  ProjectGroup: within('project', 'userId'),
  ProjectSource: within('project', 'userId'),
  ProjectAgent: within('project', 'userId'),
  Memory: ownedRule('delete', { omit: ['searchText', 'config', 'callKey'] }),
  Prompt: ownedRule('step'),
  PromptGroup: within('prompt', 'userId'),
  Dataset: within('agent', 'userId'),
  // Whose words it holds. Cases that somebody wrote belong to the agent.
  DatasetCase: ownedAs('sourceUserId', 'delete'),
  // The answers are about the agent: it is handed over.
  Experiment: ownedRule('step', { omit: ['fence'] }),
  ExperimentResult: within('experiment', 'userId'),
  AgentGate: within('agent', 'userId'),
  Guard: ofOrganizations,
  GuardCount: ofOrganizations,
  Run: ownedRule('step', { omit: ['leaseOwner', 'leaseUntil', 'fence'] }),
  Task: ofChats(ownedRule('delete')),
  SavedRunFilter: ownedRule('delete'),
  RunEventBatch: { leftOut: 'What runs said is in messages and response_items, as far as it is kept.' },
  FoldedResponse: within('run', 'userId'),
  ResponseItem: ownedRule('step'),
  Schedule: ownedRule('delete'),
  ScheduleRun: ownedRule('delete'),
  // They end with the person.
  Budget: ownedAs('subjectId', 'delete'),
  UsageEntry: ownedRule('step'),
  UsageDay: ofOrganizations,
  UsageSum: ofOrganizations,
  UsageMonth: ofOrganizations,
  UsageCounter: ofOrganizations,
  UsageReservation: { leftOut: ofService },
  RateBucket: { leftOut: shortLived },
  AuditEntry: {
    ofPerson: ({ orgId, userId }) => ({ orgId, OR: [{ actorUserId: userId }, { targetIds: { has: userId } }] }),
    ofOrganization: (orgId) => ({ orgId }),
    erase: 'step',
  },
  AuditSink: { leftOut: ofService },
  SweepPlace: { leftOut: ofService },
  RepeatedTask: { leftOut: ofService },
  DataRetention: ofOrganizations,
  LegalHold: ofOrganizations,
  DataExport: ownedRule('step'),
  Erasure: ofOrganizations,
  IdempotencyRecord: {
    leftOut: 'Replies are repeated for a day, and then deleted. An erasure deletes those of the keys of the person.',
  },
  OrganizationKey: { leftOut: 'It is a secret, without which the secrets of the organization cannot be read.' },
  Installation: { leftOut: ofService },
  CacheInvalidation: { leftOut: 'It names ids of changed rows for an hour.' },
};
