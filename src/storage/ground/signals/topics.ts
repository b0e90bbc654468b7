/** Topics that the triggers of the migrations announce. A cache may depend on these only. */
export const announcedTopics: ReadonlySet<SignalTopic> = new Set([
  'key-changed',
  'user-changed',
  'agent-changed',
  'group-changed',
  'organization-changed',
  'guard-changed',
  'saved-documents-changed',
]);

/** Topics that ask another process to do something. They are rare and always sent; all others only refresh what people see. */
export const controlTopics: ReadonlySet<SignalTopic> = new Set(['run-cancel', 'run-control', 'run-ready', 'mcp-cancel']);

/** `key-changed` carries the id of a key or a session, `agent-changed` an agent id, `run-changed` a run id, `chat-changed` a chat id, `usage-changed` an organization id … */
export type SignalTopic =
  | 'key-changed'
  | 'user-changed'
  | 'agent-changed'
  | 'group-changed'
  | 'organization-changed'
  /** The payload is the id of the organization, or of the agent. */
  | 'guard-changed'
  /** The payload is the id of the organization. */
  | 'saved-documents-changed'
  /** The state of a run has changed: it was made, started, paused or ended. Its events alone are told by `tell`. */
  | 'run-changed'
  /** Runs that are not stored have their rows; the payload is their ids, joined by commas. */
  | 'runs-recorded'
  | 'run-cancel'
  /** A client of MCP has cancelled a call; the payload is a hash that names the call. */
  | 'mcp-cancel'
  /** A run was asked to pause, or messages were added to it. */
  | 'run-control'
  /** A waiting run may begin. */
  | 'run-ready'
  | 'chat-changed'
  /** Somebody rated an agent: nothing that a cache keeps of it has changed. */
  | 'agent-rated'
  | 'memory-changed'
  | 'chat-import-changed'
  | 'experiment-changed'
  | 'connection-changed'
  /** The payload is ids of memberships, joined by commas: a role, or the name or e-mail of the person. */
  | 'membership-changed'
  | 'invitation-changed'
  /** Announced by the trigger when a source is about to be deleted; also published while a source is indexed. */
  | 'data-source-changed'
  /**
   * Who may open what at a source, or which accounts a person has proven. The payload is the id of the source, or of the person. Announced by the trigger
   * when a source becomes MIRRORED or LENT.
   */
  | 'permissions-changed'
  | 'usage-changed';
