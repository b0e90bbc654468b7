/** How the parts of one kind are stored. */
export interface PartShape {
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
  /** Whether its rows have a size of their own (`rowBytes`). */
  readonly isLong: boolean;
}

/** The most parts of each kind that an agent may have. */
export const partCountsMax = { tools: 64, userInputs: 50, skills: 100, flows: 50, flowVersions: 100, secrets: 200 } as const;

export const toolShape: PartShape = {
  table: 'agent_tools',
  model: 'agentTool',
  noun: 'tool',
  unique: 'name',
  countMax: partCountsMax.tools,
  isLong: true,
};
export const userInputShape: PartShape = {
  table: 'agent_user_inputs',
  model: 'agentUserInput',
  noun: 'user input',
  unique: 'variableName',
  countMax: partCountsMax.userInputs,
  orderedBy: 'orderIndex',
  isLong: true,
};
export const skillShape: PartShape = {
  table: 'agent_skills',
  model: 'agentSkill',
  noun: 'skill',
  unique: 'name',
  countMax: partCountsMax.skills,
  isLong: true,
};
export const flowShape: PartShape = {
  table: 'agent_flows',
  model: 'agentFlow',
  noun: 'flow',
  unique: 'name',
  countMax: partCountsMax.flows,
  isLong: false,
};
export const secretShape: PartShape = {
  table: 'agent_secrets',
  model: 'agentSecret',
  noun: 'secret',
  unique: 'key',
  countMax: partCountsMax.secrets,
  isLong: true,
};
