import type { EnabledTool } from '../conversations/runs/tool.ts';
import type { AgentOptions } from './options.ts';
import type { AgentFlow, AgentPart, AgentSkill, AgentTool, AgentUserInput } from './part.ts';

/** When a change of an agent takes effect: with the change, or when somebody publishes the draft. */
export const agentPublishings = ['AT_ONCE', 'ON_REQUEST'] as const;
export type AgentPublishing = (typeof agentPublishings)[number];

/** Stands for the draft where a number names a version. Versions begin at 1. */
export const draftVersion = 0;

/** A part as a version holds it. `createdAt` is a text, as JSON has it. */
type ContentPart<Part extends AgentPart> = Omit<Part, keyof AgentPart> & { readonly id: string; readonly createdAt: string };

/** Everything of an agent that reaches the model, as `parley_agent_content` of the migrations makes it. */
export interface AgentContent {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly introduction: string | null;
  readonly seed: string | null;
  readonly modelId: string | null;
  readonly options: AgentOptions;
  readonly enabledTools: readonly EnabledTool[];
  readonly generateCitations: boolean;
  readonly tools: readonly ContentPart<AgentTool>[];
  readonly userInputs: readonly ContentPart<AgentUserInput>[];
  readonly skills: readonly ContentPart<AgentSkill>[];
  readonly flows: readonly ContentPart<AgentFlow>[];
  /** The settings are those of the source itself: they are here to be compared. */
  readonly sources: readonly {
    readonly id: string;
    readonly name: string;
    readonly type: string;
    readonly cite: boolean;
    readonly access: string;
  }[];
  /** All secrets that the agent had, without values. */
  readonly secrets: readonly { readonly id: string; readonly key: string }[];
}

/** The lists of a content whose entries have ids. */
export const contentLists = ['tools', 'userInputs', 'skills', 'flows', 'sources'] as const;
export type ContentList = (typeof contentLists)[number];

/** The members of a content that are no lists of parts. */
export const contentMembers = [
  'name',
  'description',
  'instructions',
  'introduction',
  'seed',
  'modelId',
  'options',
  'enabledTools',
  'generateCitations',
] as const satisfies readonly (keyof AgentContent)[];

/** A version of an agent, without what it holds. */
export interface AgentVersion {
  readonly agentId: string;
  readonly number: number;
  readonly createdAt: Date;
  /** Null when that person was erased. */
  readonly userId: string | null;
  readonly note: string;
  /** What differs from the version before: `instructions`, `tools.lookup`. */
  readonly members: readonly string[];
  /** False for a canary, and for a draft that a roll back replaced: people never got it as the published one. */
  readonly isPublished: boolean;
  /** The version that it is equal to, of a roll back. */
  readonly rolledBackTo: number | null;
  /** Why it was published in spite of the gate. */
  readonly overrideReason: string | null;
}

/** A version that a part of the chats gets which begin. */
export interface AgentCanary {
  readonly version: number;
  /** Whole percent, 1 to 99. */
  readonly percent: number;
  readonly startedAt: Date;
}

/** A change of a draft. */
export interface DraftChange {
  /** The one that it made. */
  readonly revision: number;
  /** Null when that person was erased. */
  readonly userId: string | null;
  readonly members: readonly string[];
}

/** How the draft of an agent and what people get go together. */
export interface AgentVersioning {
  readonly publishing: AgentPublishing;
  readonly publishedVersion: number;
  /** Grows with every change of the draft. */
  readonly draftRevision: number;
  /** Whether the draft differs from the published version. */
  readonly isDraftChanged: boolean;
  readonly canaryVersion: number | null;
  readonly canaryPercent: number | null;
  readonly canaryStartedAt: Date | null;
}
