/** Things of which there are lists that are live. */
export const liveKinds = [
  'agent',
  'dataSource',
  'chat',
  'run',
  'memory',
  'chatImport',
  'connection',
  'membership',
  'invitation',
  'group',
  'apiKey',
] as const;
export type LiveKind = (typeof liveKinds)[number];

/** A thing of a list, as far as a stream of changes must know it. */
export interface LiveRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What of a thing says, without another statement, whom a change of it may concern. */
export interface LivePlace {
  readonly orgId: string;
  /** Whose it is. */
  readonly userId: string;
  /** Of chats and runs: the agent. */
  readonly agentId?: string | null;
  /** Callers of other organizations may find it in a catalog. */
  readonly isInOpenCatalog?: boolean;
  /** Of runs, which are announced more often than what lists show of them changes: what they show. */
  readonly state?: string;
}

export const changeKinds = ['created', 'updated', 'deleted'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/** Changes that are told together. */
export interface ChangeBatch {
  /** The things that were created or updated. */
  readonly ids: readonly string[];
  /** Until when changes were told with them: where a stream that was cut off goes on. */
  readonly until: Date;
}

/** One change of a thing in a list, for one caller. */
export interface Change {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly batch: ChangeBatch;
}
