export const agentToolTypes = ['API_FUNCTION', 'MCP_SERVER', 'CLIENT_FUNCTION'] as const;
export type AgentToolType = (typeof agentToolTypes)[number];

export const userInputTypes = ['SHORT_TEXT', 'LONG_TEXT', 'NUMBER', 'SELECT', 'BOOLEAN', 'DATE'] as const;
export type UserInputType = (typeof userInputTypes)[number];

export const secretTypes = ['apiKey', 'bearerToken', 'basicAuth', 'header'] as const;
export type SecretType = (typeof secretTypes)[number];

export const flowStepTypes = ['retrieve', 'prompt', 'tool', 'model', 'branch'] as const;
export type FlowStepType = (typeof flowStepTypes)[number];

export type JsonObject = Readonly<Record<string, unknown>>;

/** What every part of an agent has. */
export interface AgentPart {
  readonly id: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly agentId: string;
}

/** Something an agent can call. Its `data` never holds a secret: only references `{{secret:KEY}}`. */
export interface AgentTool extends AgentPart {
  /** A function name as models take it; unique in its agent. */
  readonly name: string;
  readonly type: AgentToolType;
  readonly data: JsonObject;
}

/** A variable of the agent's instructions: asked when a chat begins, and inserted for `{{variableName}}`. */
export interface AgentUserInput extends AgentPart {
  readonly variableName: string;
  readonly type: UserInputType;
  readonly label: string;
  readonly configuration: UserInputConfiguration;
  readonly showOnChatCreate: boolean;
  readonly orderIndex: number;
}
export interface UserInputConfiguration {
  readonly required?: boolean;
  /** For SELECT. */
  readonly options?: readonly string[];
  /** For NUMBER; for DATE as `YYYY-MM-DD`. */
  readonly min?: number | string;
  readonly max?: number | string;
  /** For SHORT_TEXT and LONG_TEXT, in characters. */
  readonly maxLength?: number;
  readonly default?: UserInputValue;
  readonly placeholder?: string;
}
export type UserInputValue = string | number | boolean;
export type UserInputValues = Readonly<Record<string, UserInputValue>>;

export interface AgentSkill extends AgentPart {
  readonly name: string;
  readonly description: string;
  readonly content: string;
  readonly enabled: boolean;
}

/** Longer contents are not kept in memory: they are read when a model asks for them. */
export const skillInlineCharsMax = 2_000;

export interface RunnableSkill extends Pick<AgentSkill, 'id' | 'name' | 'description'> {
  /** Null for a content of more than `skillInlineCharsMax` characters. */
  readonly content: string | null;
}

export interface AgentFlow extends AgentPart {
  readonly name: string;
  readonly enabled: boolean;
  /** In rising order. */
  readonly versions: readonly FlowVersion[];
}
export interface FlowVersion {
  readonly version: number;
  /** True for at most one version. */
  readonly active: boolean;
  readonly description: string;
  readonly data: JsonObject;
}

/** A credential that tools refer to. Its value can be set but never read back. */
export interface AgentSecret extends AgentPart {
  readonly key: string;
  readonly description: string;
  readonly secretType: SecretType;
  readonly hasValue: boolean;
  /** Found in a tool's data: it is deleted when no tool refers to it any more. */
  readonly isDerived: boolean;
  /** Where its value may be sent: the origins that it was given for (scheme, host, port), like `https://api.example.com`. Sorted. */
  readonly origins: readonly string[];
  /** Who set the value; null while there is none, and for values of older versions. */
  readonly givenByUserId: string | null;
}

/** The parts of agents, a list for each kind. */
export interface AgentParts {
  readonly tools: readonly AgentTool[];
  readonly userInputs: readonly AgentUserInput[];
  readonly skills: readonly AgentSkill[];
  readonly flows: readonly AgentFlow[];
  readonly secrets: readonly AgentSecret[];
}
export type AgentPartKind = keyof AgentParts;

/** A part as one caller sees it: callers who may not edit the agent do not see how the part works. */
export type PartView<Part extends AgentPart> = Part & { readonly isWhole: boolean } & EndedApproval;

/** The outcome of a change of an agent or of a part of it. */
export interface EndedApproval {
  /** The change ended the approval by the organization. */
  readonly endedApproval?: true;
}

/** The parts of an agent that a run needs. */
export interface AgentRunParts {
  readonly tools: readonly RunnableTool[];
  readonly userInputs: readonly Pick<AgentUserInput, 'variableName' | 'type' | 'configuration' | 'showOnChatCreate'>[];
}
export type RunnableTool = Pick<AgentTool, 'id' | 'name' | 'type' | 'data'>;

/** A tool's description for models. */
export function readDescription({ description }: JsonObject): string {
  return typeof description === 'string' ? description : '';
}

/** JSON Schema of a tool's arguments. */
export function readParameters({ parameters }: JsonObject): JsonObject {
  return typeof parameters === 'object' && parameters !== null ? (parameters as JsonObject) : { type: 'object', properties: {} };
}

/** A reference to a secret, alone or inside a text. */
export const secretReference = /\{\{secret:([A-Za-z][A-Za-z0-9_.-]{0,99})\}\}/g;
export const secretKeyPattern = /^[A-Za-z][A-Za-z0-9_.-]{0,99}$/;

/** The keys that a JSON value refers to, without duplicates, sorted. Cost: one pass over its text. */
export function secretKeysIn(value: unknown): readonly string[] {
  const secretReferences = JSON.stringify(value ?? null).matchAll(secretReference);
  return [...new Set([...secretReferences].map(([, key = '']) => key))].sort();
}
