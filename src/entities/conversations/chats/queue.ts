import type { PromptPart } from './chat.ts';

/** `WAITING`: the message is answered after the run that answers now. `JOINING`: that run takes it in before it asks its model again. */
export const queueStates = ['WAITING', 'JOINING'] as const;
export type QueueState = (typeof queueStates)[number];

/** A message that was sent while a run answered in its chat. */
export interface QueuedMessage {
  readonly id: string;
  readonly createdAt: Date;
  readonly content: string;
  /** The user's input when it was more than a string. */
  readonly parts: readonly PromptPart[] | null;
  /** The run that answers it. */
  readonly runId: string;
  readonly state: QueueState;
}
