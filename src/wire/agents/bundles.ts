import { z } from 'zod';
import { agentToolTypes, secretTypes, userInputTypes } from '../../entities/agents/part.ts';
import { dataSourceTypes, refreshPeriods } from '../../entities/knowledge/data-source.ts';
import { body, maybe, readAs } from '../ground/body.ts';
import { described, flag, list, oneOfTexts, text } from '../ground/schema.ts';
import { typed } from './agents.ts';
import { agentOptionsBody } from './options.ts';
import { flowVersionBody, partMembers, userInputConfigurationBody } from './parts.ts';
import { agentProfileBody } from './profile.ts';
import { toolBody } from './tools.ts';

/** The file of an export, as REST reads it; GraphQL takes it as JSON. */

const isStrict = { takenMembers: partMembers };

const bundleSource = body('AgentBundleSourceInput', 'Where a bundle comes from; not used.', {
  apiBaseUrl: text('The address of that service.').nullish(),
  orgId: text('The organization there.').nullish(),
});
const bundledAgent = body('BundledAgentInput', 'The agent itself.', {
  name: text('1 to 200 characters.'),
  introduction: text('How it greets.').nullish(),
  description: text('What it is for.'),
  instructions: text('The instructions for the model.'),
  seed: text('Text that new chats begin from.').nullish(),
  src: text('Its picture.'),
  modelId: text('The model that answers; one that is not here is substituted.').nullish(),
  visibility: typed('AgentVisibility', 'Who may use it. Default PRIVATE.'),
  listInOrgCatalog: flag("Whether the organization's catalog lists it.").nullish(),
  listInPublicCatalog: flag('Whether the public catalog lists it.').nullish(),
  listInTenantCatalog: flag("Whether the tenant's catalog lists it.").nullish(),
  chatLogsVisible: flag('Whether its editors may read its chats.').nullish(),
  generateCitations: flag('Whether answers cite.').nullish(),
  intermediateStepsVisible: flag('Whether users see the steps.').nullish(),
  enabledTools: list('The tools of the service that its runs may use.', toolBody).nullish(),
  options: maybe('How the model samples.', agentOptionsBody),
  profile: maybe('How it is presented.', agentProfileBody),
});
const bundledTool = body(
  'BundledToolInput',
  'A tool.',
  {
    name: text('The name the model calls it by.'),
    type: readAs('AgentToolType', oneOfTexts('Its type.', agentToolTypes)),
    data: described({
      description:
        'The configuration of the tool. Secrets in it are moved into the vault. JSON: its form depends on the type of the tool.',
    }),
  },
  { takenMembers: [...partMembers, 'description'] },
);
const bundledUserInput = body(
  'BundledUserInputInput',
  'A variable of the instructions.',
  {
    variableName: text('Its name in the instructions.'),
    type: readAs('UserInputType', oneOfTexts('The type of its value.', userInputTypes)),
    label: text('What the user is asked.'),
    configuration: maybe('The settings of the question.', userInputConfigurationBody),
    showOnChatCreate: flag('Whether it is asked when a chat is created.').nullish(),
    orderIndex: maybe('Its position: lower numbers are asked first.', readAs('Int', z.int())),
  },
  isStrict,
);
const bundledFlow = body(
  'BundledFlowInput',
  'A flow with its versions.',
  {
    name: text('Its name.'),
    enabled: flag('Whether the flow is enabled.').nullish(),
    versions: list('One active at most.', flowVersionBody).nullish(),
  },
  isStrict,
);
const bundledItem = body('BundledKnowledgeItemInput', 'One document of a data source.', {
  name: text('Its title.').nullish(),
  type: text('Not used: its source says.').nullish(),
  uniqueId: text('Unique in its source.').nullish(),
  blobUrl: text('Its content: a data URL, or a public address to fetch it from.').nullish(),
  filename: text('The name of the file.').nullish(),
  mimeType: text('What kind of file it is.').nullish(),
});
const bundledSource = body('BundledDataSourceInput', 'A data source with its documents.', {
  originalId: text('Its id where the bundle comes from; not used.').nullish(),
  name: text('Its name.'),
  type: readAs('DataSourceType', oneOfTexts('Its type.', dataSourceTypes)),
  refreshPeriod: readAs('RefreshPeriod', oneOfTexts('How often it is refreshed.', refreshPeriods)).nullish(),
  data: described({ description: 'The payload itself, or how it is read. JSON: any object.' }).nullish(),
  knowledgeItems: list('Its documents.', bundledItem).nullish(),
});
const bundledSkill = body(
  'BundledSkillInput',
  'A skill.',
  {
    name: text('Its name.'),
    description: text('When the agent should use the skill.').nullish(),
    content: text('The instructions.'),
    enabled: flag('Whether the skill is enabled.').nullish(),
  },
  isStrict,
);
const requiredSecret = body(
  'RequiredSecretInput',
  'A credential that the tools need.',
  {
    key: text('The name by which tools refer to it.'),
    description: text('What it is for.').nullish(),
    secretType: readAs('SecretType', oneOfTexts('What it is. Default apiKey.', secretTypes)).nullish(),
  },
  isStrict,
);
const bundleWarning = body('AgentBundleWarningInput', 'What the export left out; not used.', {
  code: text('For programs.').nullish(),
  message: text('For a person.').nullish(),
  param: text('The member that was left out.').nullish(),
});
const agentBundle = body('AgentBundleInput', 'A portable agent, as an export answers it.', {
  version: text('The version of the format: `1.0`.'),
  exportedAt: maybe('When it was made; not used.', readAs('DateTime', z.date())),
  source: maybe('Where it comes from; not used.', bundleSource),
  agent: bundledAgent.meta({ description: 'The agent itself.' }),
  tools: list('At most 64.', bundledTool).nullish(),
  userInputs: list('At most 50.', bundledUserInput).nullish(),
  flows: list('At most 50.', bundledFlow).nullish(),
  dataSources: list('At most 1,000 with 20,000 documents.', bundledSource).nullish(),
  skills: list('At most 100; skipped without SKILLS:WRITE.', bundledSkill).nullish(),
  requiredSecrets: list('At most 200.', requiredSecret).nullish(),
  warnings: list('What the export left out; not used.', bundleWarning).nullish(),
});

export const agentImportBody = body('ImportAgentInput', 'A bundle to make an agent from.', {
  bundle: agentBundle.meta({ description: 'The bundle.' }),
  name: text("Instead of the bundle's name; 1 to 200 characters.").nullish(),
  secrets: described({ description: 'Values by the keys of `requiredSecrets`: texts of at most 4,096 bytes.' }).nullish(),
});
