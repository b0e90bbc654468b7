import type { RunError, RunSnapshot, RunStatus, SelectionMetadata, Usage } from './event.ts';

/** A stored run, without its events. */
export interface Run {
  readonly id: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly orgId: string;
  readonly userId: string;
  readonly agentId: string | null;
  readonly chatId: string | null;
  readonly modelId: string;
  readonly status: RunStatus;
  readonly incompleteReason: RunSnapshot['incompleteReason'];
  readonly error: RunError | null;
  readonly usage: Usage | null;
  readonly selection: SelectionMetadata | null;
  /** Sequence number of the last event when the run ended; -1 while it runs. */
  readonly lastSequence: number;
  /** Waits for the run that holds its chat. */
  readonly isWaiting: boolean;
  readonly previousId: string | null;
}

export interface NewRun {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly agentId: string | null;
  readonly chatId: string;
  readonly modelId: string;
  /** The engine's request, opaque to others. */
  readonly request: unknown;
}
