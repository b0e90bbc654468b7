import type { AgentPartKind } from '../../../entities/agents/part.ts';

/** How the parts of one kind are stored. */
export interface PartShape {
  readonly kind: AgentPartKind;
  readonly table: string;
  /** The table's name in Prisma's client. */
  readonly model: 'agentTool' | 'agentUserInput' | 'agentSkill' | 'agentFlow' | 'agentSecret';
  /** The noun in error messages. */
  readonly noun: string;
  /** The column whose values are unique within an agent. */
  readonly unique: string;
  readonly countMax: number;
  /** A column of numbers that orders the parts of an agent before `unique` does. */
  readonly orderedBy?: string;
}

/** The most parts of each kind that an agent may have. */
export const partCountsMax = { tools: 64, userInputs: 50, skills: 100, flows: 50, flowVersions: 100, secrets: 200 } as const;

export const toolShape: PartShape = {
  kind: 'tools',
  table: 'agent_tools',
  model: 'agentTool',
  noun: 'tool',
  unique: 'name',
  countMax: partCountsMax.tools,
};
export const userInputShape: PartShape = {
  kind: 'userInputs',
  table: 'agent_user_inputs',
  model: 'agentUserInput',
  noun: 'user input',
  unique: 'variableName',
  countMax: partCountsMax.userInputs,
  orderedBy: 'orderIndex',
};
export const skillShape: PartShape = {
  kind: 'skills',
  table: 'agent_skills',
  model: 'agentSkill',
  noun: 'skill',
  unique: 'name',
  countMax: partCountsMax.skills,
};
export const flowShape: PartShape = {
  kind: 'flows',
  table: 'agent_flows',
  model: 'agentFlow',
  noun: 'flow',
  unique: 'name',
  countMax: partCountsMax.flows,
};
export const secretShape: PartShape = {
  kind: 'secrets',
  table: 'agent_secrets',
  model: 'agentSecret',
  noun: 'secret',
  unique: 'key',
  countMax: partCountsMax.secrets,
};
