import type { UserInputValues } from '../agents/part.ts';

/** Where the answers of a schedule are read: `NEW` a new chat each time, `SAME` one chat that goes on, `NONE` no chat. */
export const scheduleChats = ['NEW', 'SAME', 'NONE'] as const;
export type ScheduleChat = (typeof scheduleChats)[number];

export const scheduleTriggers = ['TIME', 'MANUAL'] as const;
export type ScheduleTrigger = (typeof scheduleTriggers)[number];

export const scheduleRunStatuses = ['PENDING', 'RUNNING', 'COMPLETED', 'INCOMPLETE', 'FAILED', 'CANCELLED', 'SKIPPED'] as const;
export type ScheduleRunStatus = (typeof scheduleRunStatuses)[number];

/** Why a schedule cannot run, and what its owner does about it. */
export const scheduleObstacles = {
  agent: 'Its agent was deleted, or its owner may not use it any more: name another agent',
  webhook: 'Its webhook was deleted, or does not take SCHEDULE_ENDED any more: name another webhook',
} as const;

/** Runs an agent at the times of a cron expression, as the person whose it is. */
export interface Schedule {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  /** Whose it is: it runs with the rights of this person. */
  readonly userId: string;
  /** Null: the agent is gone. */
  readonly agentId: string | null;
  readonly name: string;
  readonly prompt: string;
  readonly userInputs: UserInputValues;
  /** Five fields. */
  readonly cron: string;
  /** An IANA name. */
  readonly timeZone: string;
  readonly chatMode: ScheduleChat;
  /** The chat that goes on, once it has begun. */
  readonly chatId: string | null;
  readonly webhookId: string | null;
  readonly isEnabled: boolean;
  /** Why it is not enabled; null when it is. */
  readonly pausedReason: string | null;
  /** Null while it is not enabled. */
  readonly nextRunAt: Date | null;
  /** Failed runs since the last one that did not fail. */
  readonly failures: number;
}

/** One time of a schedule, and what became of it. */
export interface ScheduleRun {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  /** As whom it runs. */
  readonly userId: string;
  readonly scheduleId: string;
  /** When it was to run; of several times that were missed, the first. */
  readonly dueAt: Date;
  readonly trigger: ScheduleTrigger;
  readonly status: ScheduleRunStatus;
  readonly runId: string | null;
  readonly chatId: string | null;
  readonly deliveryId: string | null;
  readonly errorMessage: string | null;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}
