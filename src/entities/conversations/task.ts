/** The states of a task of the A2A protocol. On the wire each begins with `TASK_STATE_`. */
export const taskStates = ['SUBMITTED', 'WORKING', 'INPUT_REQUIRED', 'COMPLETED', 'FAILED', 'CANCELED'] as const;
export type TaskState = (typeof taskStates)[number];

/** The states that a task never leaves. */
export const endedTaskStates: readonly TaskState[] = ['COMPLETED', 'FAILED', 'CANCELED'];

/** A task: a stored response, and the responses that go on with it. */
export interface Task {
  /** Of its first response. */
  readonly id: string;
  readonly createdAt: Date;
  /** When its state changed last. */
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string;
  /** The thread: its context. */
  readonly chatId: string;
  readonly lastRunId: string;
  readonly runIds: readonly string[];
  /** The messages that began its responses, in their order, as the client calls them. */
  readonly messageIds: readonly string[];
  readonly state: TaskState;
}

/** Where a task tells of its states. */
export interface TaskNotification {
  readonly taskId: string;
  /** Unique in its task. */
  readonly configId: string;
  readonly url: string;
  readonly isEnabled: boolean;
  /** Sealed `NotificationSecrets`. */
  readonly secret: string;
  /** Of the row that the secret is sealed for. */
  readonly webhookId: string;
}

/** What a notification proves itself with. */
export interface NotificationSecrets {
  readonly token?: string;
  readonly scheme?: string;
  readonly credentials?: string;
}
