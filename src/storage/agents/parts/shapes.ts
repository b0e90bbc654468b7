import type { PartShape } from './part-table.ts';

/** How many of each kind an agent has at most. */
export const partCountsMax = { tools: 64, userInputs: 50, skills: 100, flows: 50, flowVersions: 100, secrets: 200 } as const;

export const toolShape: PartShape = {
  table: 'agent_tools',
  noun: 'tool',
  columns: { name: 'plain', type: 'plain', data: 'json' },
  unique: 'name',
  countMax: partCountsMax.tools,
  orderBy: 'name collate "C"',
};
export const userInputShape: PartShape = {
  table: 'agent_user_inputs',
  noun: 'user input',
  columns: {
    variableName: 'plain',
    type: 'plain',
    label: 'plain',
    configuration: 'json',
    showOnChatCreate: 'plain',
    orderIndex: 'plain',
  },
  unique: 'variableName',
  countMax: partCountsMax.userInputs,
  orderBy: '"orderIndex", "variableName" collate "C"',
};
export const skillShape: PartShape = {
  table: 'agent_skills',
  noun: 'skill',
  columns: { name: 'plain', description: 'plain', content: 'plain', enabled: 'plain' },
  unique: 'name',
  countMax: partCountsMax.skills,
  orderBy: 'name collate "C"',
};
export const flowShape: PartShape = {
  table: 'agent_flows',
  noun: 'flow',
  columns: { name: 'plain', enabled: 'plain' },
  unique: 'name',
  countMax: partCountsMax.flows,
  orderBy: 'name collate "C"',
};
export const secretShape: PartShape = {
  table: 'agent_secrets',
  noun: 'secret',
  columns: {
    key: 'plain',
    description: 'plain',
    secretType: 'plain',
    sealed: 'plain',
    isDerived: 'plain',
    origins: 'plain',
    givenByUserId: 'plain',
  },
  unique: 'key',
  countMax: partCountsMax.secrets,
  orderBy: 'key collate "C"',
};
