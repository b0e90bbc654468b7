import type { JsonObject } from '../../agents/part.ts';

/** Questions with what a good answer to each must be, to try an agent with. */
export interface Dataset {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly agentId: string;
  readonly name: string;
  readonly description: string;
  /** Experiments call tools that change something, instead of replaying what they gave. */
  readonly callsTools: boolean;
  /** Grows with each change of its cases. */
  readonly revision: number;
  /** Drafts included. */
  readonly caseCount: number;
  readonly draftCount: number;
}

export const caseRoles = ['user', 'assistant'] as const;

/** What was said before the question. */
export interface CaseMessage {
  readonly role: (typeof caseRoles)[number];
  readonly content: string;
}
/** A document that comes with the question, as its text. */
export interface CaseFile {
  readonly filename: string;
  readonly text: string;
}
/** A call that must be made. */
export interface WantedCall {
  readonly name: string;
  /** Arguments that the call must have, among others; null: any. */
  readonly arguments: JsonObject | null;
}
/** A call that the run of the case made, with what the tool gave. */
export interface RecordedCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly output: string;
  /** Why the call failed; null when it did not. */
  readonly error: string | null;
}

/** What is asked, and what a good answer must be. Absent expectations are null or empty: they ask nothing. */
export interface CaseContent {
  readonly question: string;
  /** Before the question, oldest first. */
  readonly messages: readonly CaseMessage[];
  /** Values of the agent's user inputs, by variable name. */
  readonly userInputs: JsonObject;
  readonly files: readonly CaseFile[];
  readonly expected: string | null;
  readonly mustContain: readonly string[];
  readonly mustNotContain: readonly string[];
  /** Ids or names of documents. */
  readonly mustCite: readonly string[];
  readonly mustCall: readonly WantedCall[];
  /** Names of tools. */
  readonly mustNotCall: readonly string[];
  /** Whether a good answer says that it cannot answer; null: it is not asked. */
  readonly mustRefuse: boolean | null;
  /** What a judge weighs. */
  readonly rubric: string | null;
  readonly recordedCalls: readonly RecordedCall[];
}

/** A case as it is from one revision of its dataset to another. */
export interface DatasetCase {
  /** The same in all revisions. */
  readonly id: string;
  readonly fromRevision: number;
  readonly createdAt: Date;
  readonly orgId: string;
  readonly datasetId: string;
  readonly content: CaseContent;
  readonly tags: readonly string[];
  readonly weight: number;
  /** Nobody has agreed to it yet: experiments leave it out. */
  readonly isDraft: boolean;
  readonly sourceRunId: string | null;
  readonly sourceChatId: string | null;
  /** The person whose words it holds; null for one that was written. */
  readonly sourceUserId: string | null;
}

export const caseFormats = ['CSV', 'JSONL'] as const;
export type CaseFormat = (typeof caseFormats)[number];
