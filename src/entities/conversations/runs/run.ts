import type { RunError, RunSnapshot, RunStatus, SelectionMetadata } from './event.ts';
import type { RetrievalSummary } from './step.ts';
import type { Usage } from './usage.ts';

/**
 * What began a run: a message of a chat, a request for a completion, a response or embeddings, a search of knowledge, a conversation that was made
 * shorter, or a draft of an agent's profile.
 */
export const runKinds = ['chat', 'completion', 'response', 'embedding', 'search', 'compaction', 'profile'] as const;
export type RunKind = (typeof runKinds)[number];

/** A run as its events tell it, at one of them or until now. */
export type RunState = RunSnapshot & { readonly id: string };

/** A run, without its events. */
export interface Run {
  readonly id: string;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly orgId: string;
  readonly userId: string;
  /** The key that began it, or resumed it last; '' for none. */
  readonly keyId: string;
  readonly agentId: string | null;
  /** The version of the agent that answers; 0: the draft. Null: no agent, or a run of before versions. */
  readonly agentVersion: number | null;
  readonly chatId: string | null;
  readonly kind: RunKind;
  /** False: there is nothing of it but this. */
  readonly isStored: boolean;
  /** The model that was asked for; '' for a search. */
  readonly modelId: string;
  /** The model that answered last; null while none has. */
  readonly answeredModelId: string | null;
  readonly status: RunStatus;
  readonly incompleteReason: RunSnapshot['incompleteReason'];
  readonly error: RunError | null;
  readonly usage: Usage | null;
  readonly selection: SelectionMetadata | null;
  /** From the beginning of the work to the first token of a model; null when none came. */
  readonly firstTokenMs: number | null;
  /** Time that was worked on it; null until it is over. */
  readonly durationMs: number | null;
  /** In the currency of the models file; null when a model that it called has no price. */
  readonly cost: number | null;
  readonly retrieval: RetrievalSummary | null;
  /** Its knowledge was searched, and no passage was found. */
  readonly hasFoundNothing: boolean;
  readonly ratedUp: number;
  readonly ratedDown: number;
  /** Labels that people gave it. */
  readonly tags: readonly string[];
  /** Sequence number of the last event when the run ended; -1 while it runs. */
  readonly lastSequence: number;
  /** Waits for the run that holds its chat. */
  readonly isWaiting: boolean;
  readonly previousId: string | null;
}

/** A run as an API shows it: the row of a stored run, or the state of any run. */
export type RunView = Run | RunState;

export interface NewRun {
  readonly id: string;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly userId: string;
  readonly keyId: string;
  readonly agentId: string | null;
  readonly agentVersion: number | null;
  readonly chatId: string;
  readonly modelId: string;
  /** The engine's request, opaque to others. */
  readonly request: unknown;
}
