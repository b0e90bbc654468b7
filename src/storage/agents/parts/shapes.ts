/** How the parts of one kind are stored. */
export interface PartShape {
  readonly table: string;
  /** The table's name in Prisma's client. */
  readonly model: 'agentTool' | 'agentUserInput' | 'agentSkill' | 'agentFlow' | 'agentSecret';
  /** The noun in error messages. */
  readonly noun: string;
  /** Columns whose values may be long. */
  readonly longColumns: readonly string[];
  /** The column whose values are unique within an agent. */
  readonly unique: string;
  readonly countMax: number;
  readonly orderBy: string;
}

/** The most parts of each kind that an agent may have. */
export const partCountsMax = { tools: 64, userInputs: 50, skills: 100, flows: 50, flowVersions: 100, secrets: 200 } as const;

export const toolShape: PartShape = {
  table: 'agent_tools',
  model: 'agentTool',
  noun: 'tool',
  longColumns: ['name', 'data'],
  unique: 'name',
  countMax: partCountsMax.tools,
  orderBy: 'name collate "C"',
};
export const userInputShape: PartShape = {
  table: 'agent_user_inputs',
  model: 'agentUserInput',
  noun: 'user input',
  longColumns: ['variableName', 'label', 'configuration'],
  unique: 'variableName',
  countMax: partCountsMax.userInputs,
  orderBy: '"orderIndex", "variableName" collate "C"',
};
export const skillShape: PartShape = {
  table: 'agent_skills',
  model: 'agentSkill',
  noun: 'skill',
  longColumns: ['name', 'description', 'content'],
  unique: 'name',
  countMax: partCountsMax.skills,
  orderBy: 'name collate "C"',
};
export const flowShape: PartShape = {
  table: 'agent_flows',
  model: 'agentFlow',
  noun: 'flow',
  longColumns: ['name'],
  unique: 'name',
  countMax: partCountsMax.flows,
  orderBy: 'name collate "C"',
};
export const secretShape: PartShape = {
  table: 'agent_secrets',
  model: 'agentSecret',
  noun: 'secret',
  longColumns: ['key', 'description', 'sealed', 'origins'],
  unique: 'key',
  countMax: partCountsMax.secrets,
  orderBy: 'key collate "C"',
};
