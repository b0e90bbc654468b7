import type { EnabledTool } from '../conversations/runs/tool.ts';
import type { AgentOptions } from './options.ts';
import type { AgentFlow, AgentRunParts, EndedApproval, JsonObject, RunnableSkill } from './part.ts';
import type { AgentCanary, AgentVersioning } from './version.ts';

export const agentVisibilities = ['PRIVATE', 'GROUP', 'ORGANIZATION', 'ANYONE_WITH_LINK'] as const;
export type AgentVisibility = (typeof agentVisibilities)[number];

export const publicCategories = [
  'ACCOUNTING_FINANCE',
  'AI_MODELS',
  'ENGINEERING',
  'HUMAN_RESOURCES',
  'INFORMATION_TECHNOLOGY',
  'LEARNING_DEVELOPMENT',
  'MARKETING',
  'PRODUCTIVITY',
  'SALES',
  'ADVISOR',
  'FEATURED',
] as const;
export type PublicCategory = (typeof publicCategories)[number];

export const agentListScopes = ['PRIVATE', 'OWNED', 'GROUP', 'SHARED', 'ORGANIZATION', 'TENANT', 'PUBLIC', 'ALL'] as const;
export type AgentListScope = (typeof agentListScopes)[number];

export const agentCatalogs = ['ORGANIZATION', 'TENANT', 'PUBLIC'] as const;
export type AgentCatalog = (typeof agentCatalogs)[number];

export interface AgentProfile {
  readonly headline?: string;
  readonly description?: string;
  readonly trainingDescription?: string;
  readonly features?: readonly { readonly title: string; readonly description: string }[];
  readonly showCharacter?: boolean;
  readonly showTraining?: boolean;
  readonly showPersonality?: boolean;
  readonly showSpeaker?: boolean;
  readonly showVideo?: boolean;
  readonly conversations?: readonly Readonly<Record<string, unknown>>[];
  readonly socialImage?: string;
  readonly idleVideo?: string;
  readonly idleVideoError?: string;
  readonly voice?: string;
  readonly voiceEngine?: string;
  readonly videoModel?: string;
}

/** An agent. The API contract calls it an AI. */
export interface Agent {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  /** The owner. */
  readonly userId: string;
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly introduction: string | null;
  readonly seed: string | null;
  readonly src: string;
  readonly modelId: string | null;
  readonly visibility: AgentVisibility;
  readonly listInOrgCatalog: boolean;
  readonly listInPublicCatalog: boolean;
  readonly listInTenantCatalog: boolean;
  readonly isApprovedByOrg: boolean;
  readonly chatLogsVisible: boolean;
  readonly generateCitations: boolean;
  readonly intermediateStepsVisible: boolean;
  /** The tools of the service that all its runs may use. */
  readonly enabledTools: readonly EnabledTool[];
  readonly options: AgentOptions;
  readonly profile: AgentProfile | null;
  readonly publicCategories: readonly PublicCategory[];
  readonly orgCategoryIds: readonly string[];
  readonly categoryId: string | null;
  readonly messageCount: number;
  readonly ratingCount: number;
  readonly ratingSum: number;
  readonly isDeleted: boolean;
}

/** A category in an organization's catalog. */
export interface AgentCategory {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly orgId: string;
  readonly name: string;
}

export interface AgentEditor {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** An agent with the users who may change it. */
export interface AgentWithEditors extends Agent {
  /** Without the owner. */
  readonly editorIds: ReadonlySet<string>;
}

/** The members of an agent that decide about access to its parts. */
export type AgentOfParts = Pick<AgentWithEditors, 'id' | 'orgId' | 'userId' | 'editorIds'>;

/** An agent as one user sees it. */
export interface AgentView extends AgentWithEditors, AgentVersioning, EndedApproval {
  readonly orgName: string;
  readonly userName: string;
  readonly editors: readonly AgentEditor[];
  readonly groupIds: readonly string[];
  /** The groups among them that the viewer may see. */
  readonly visibleGroupIds: readonly string[];
  /** Whether that user has chats with it. */
  readonly hasUserChats: boolean;
  /** Whether its visibility admits users besides owner, editors and administrators; false for GROUP when its groups have no members. */
  readonly isOpenToOthers: boolean;
}

/** An agent with everything that access rules need, for decisions in memory. */
export interface AgentFacts extends AgentWithEditors {
  readonly tenantId: string;
  readonly groupIds: ReadonlySet<string>;
  /** Users who are members of one of its groups; loaded only where the visibility is GROUP. */
  readonly groupMemberIds: ReadonlySet<string>;
}

/** Everything a run needs of an agent. */
export interface RunnableAgent extends AgentFacts, AgentRunParts {
  /** Sources that may be searched; those being deleted are left out. */
  readonly dataSourceIds: readonly string[];
  /** The active version of the enabled flow; null when there is none. */
  readonly flow: { readonly flowId: string; readonly version: number; readonly data: JsonObject } | null;
  /** The enabled skills, by name. */
  readonly skills: readonly RunnableSkill[];
  /** The version that this is; 0: a draft that differs from the published version. */
  readonly version: number;
  readonly publishedVersion: number;
  /** Whether the draft differs from the published version. */
  readonly isDraftChanged: boolean;
  /** Whether drafts must pass a gate before they are published. */
  readonly hasGate: boolean;
  /** Grows with every change of the draft. */
  readonly draftRevision: number;
  /** The version that a part of the chats gets which begin; null: there is none. */
  readonly canary: AgentCanary | null;
  /** All flows of a version that is not the draft; absent: they are read from the draft. */
  readonly versionFlows?: readonly Pick<AgentFlow, 'id' | 'name' | 'enabled' | 'versions'>[];
}
