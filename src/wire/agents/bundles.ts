import { z } from 'zod';
import type { AgentBundle, BundledAgent } from '../../entities/agents/bundle.ts';
import { agentToolTypes, secretTypes, userInputTypes } from '../../entities/agents/part.ts';
import { dataSourceTypes, refreshPeriods } from '../../entities/knowledge/data-source.ts';
import { body, maybe, readAs } from '../ground/body.ts';
import type { ShownTo, WireReply } from '../ground/encoder.ts';
import { described, flag, int32, list, number, oneOfTexts, reference, type Sent, text } from '../ground/schema.ts';
import { shapedType } from '../ground/shape.ts';
import { typed } from './agents.ts';
import { agentOptionsBody, shownOptions, showOptions } from './options.ts';
import { flowVersionBody, partMembers, userInputConfigurationBody } from './parts.ts';
import { agentProfileBody, shownProfile, showProfile } from './profile.ts';
import { shownTool, showTool, toolBody } from './tools.ts';

/** The file of an export, as REST reads and shows it; to GraphQL it is JSON. */

const caseForm = 'A case as a line of JSONL has it. JSON: `docs/evaluation.md` names its members.';
const scorerForm = 'A scorer with its settings. JSON: they depend on its kind.';
const gateNumbers = {
  rateDropMax: 'By how many points of a hundred the rate may be below that of the published version.',
  costRatioMax: 'What it may cost beside the published version.',
  tokensMax: 'Tokens that asking may use.',
};
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
const bundledDataset = body('BundledDatasetInput', 'A dataset with its cases.', {
  name: text('1 to 200 characters.'),
  description: text('At most 2,000 characters.').nullish(),
  callsTools: flag('Whether experiments call tools that change something. Default: false.').nullish(),
  cases: list('At most 10,000.', described({ description: caseForm })).nullish(),
});
const bundledGate = body('BundledGateInput', 'What a draft must pass before it is published.', {
  dataset: readAs('Int', z.int().meta({ description: 'The place of its dataset in `datasets`, from 0.' })),
  mustTag: text('No case with this label may fail.').nullish(),
  rateDropMax: maybe(gateNumbers.rateDropMax, readAs('Float', z.number())),
  costRatioMax: maybe(gateNumbers.costRatioMax, readAs('Float', z.number())),
  tokensMax: readAs('Float', number(gateNumbers.tokensMax)),
  scorers: list('At most 20. Default: as experiments have them.', described({ description: scorerForm })).nullish(),
});
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
  datasets: list('At most 100.', bundledDataset).nullish(),
  gate: maybe('Its gate: the agent is published on request then. Left out when a model that judges is not here.', bundledGate),
  warnings: list('What the export left out; not used.', bundleWarning).nullish(),
});

export const agentImportBody = body('ImportAgentInput', 'A bundle to make an agent from.', {
  bundle: agentBundle.meta({ description: 'The bundle.' }),
  name: text("Instead of the bundle's name; 1 to 200 characters.").nullish(),
  secrets: described({ description: 'Values by the keys of `requiredSecrets`: texts of at most 4,096 bytes.' }).nullish(),
});

const shownBundle = shapedType(
  'AgentBundle',
  'A portable agent, without any secret. The same agent gives the same bundle but for `exportedAt`.',
  {
    version: text('The version of the format: `1.0`.'),
    exportedAt: text('When it was made.').meta({ format: 'date-time' }),
    source: shapedType('AgentBundleSource', 'Where a bundle comes from.', {
      apiBaseUrl: text('The address of that service.'),
      orgId: text('The organization there.'),
    }).meta({ description: 'The installation that exported the bundle.' }),
    agent: shapedType('BundledAgent', 'The agent itself, without what belongs to one organization.', {
      name: text('Its name.'),
      introduction: text('How it greets.').nullable(),
      description: text('What it is for.'),
      instructions: text('The instructions for the model.'),
      seed: text('Text that new chats begin from.'),
      src: text('Its picture.'),
      modelId: text('The model that answers.'),
      visibility: reference('AgentVisibility', 'Who may use it.'),
      listInOrgCatalog: flag("Whether the organization's catalog lists it."),
      listInPublicCatalog: flag('Whether the public catalog lists it.'),
      listInTenantCatalog: flag("Whether the tenant's catalog lists it."),
      chatLogsVisible: flag('Whether its editors may read its chats.'),
      generateCitations: flag('Whether answers cite.'),
      intermediateStepsVisible: flag('Whether users see the steps.'),
      enabledTools: list('The tools of the service that its runs may use.', shownTool),
      options: shownOptions.meta({ description: 'How the model samples.' }),
      profile: shownProfile.meta({ description: 'How it is presented.' }),
    }).meta({ description: 'The agent itself.' }),
    tools: list(
      'Its tools, by name.',
      shapedType('BundledTool', 'A tool, its secrets replaced by references.', {
        name: text('The name the model calls it by.'),
        type: reference('AgentToolType', 'Its type.'),
        data: described({ description: 'The configuration of the tool.' }),
      }),
    ),
    userInputs: list(
      'Its variables.',
      shapedType('BundledUserInput', 'A variable of the instructions.', {
        variableName: text('Its name in the instructions.'),
        type: reference('UserInputType', 'The type of its value.'),
        label: text('What the user is asked.'),
        configuration: described({ description: 'The settings of the question.' }),
        showOnChatCreate: flag('Whether it is asked when a chat is created.'),
        orderIndex: int32('Its position: lower numbers are asked first.'),
      }),
    ),
    flows: list(
      'Its flows, by name.',
      shapedType('BundledFlow', 'A flow with its versions.', {
        name: text('Its name.'),
        enabled: flag('Whether the flow is enabled.'),
        versions: list(
          'Its versions, by number.',
          shapedType('BundledFlowVersion', 'One version of a flow.', {
            version: int32('Its number.'),
            active: flag('Whether this version is the active one.'),
            description: text('What changed in this version.'),
            data: described({ description: 'Its steps.' }),
          }),
        ),
      }),
    ),
    dataSources: list(
      'Its knowledge; none without the scope DATA_SOURCES:READ.',
      shapedType('BundledDataSource', 'A data source with its documents.', {
        originalId: text('Its id where the bundle comes from.'),
        name: text('Its name.'),
        type: reference('DataSourceType', 'Its type.'),
        refreshPeriod: reference('RefreshPeriod', 'How often it is refreshed.'),
        data: described({ description: 'The payload itself, or how it is read.' }),
        knowledgeItems: list(
          'Its documents.',
          shapedType('BundledKnowledgeItem', 'One document of a data source.', {
            name: text('Its title.'),
            type: text('The type of its source.'),
            uniqueId: text('Unique in its source.'),
            blobUrl: text(
              'Its content: for uploaded files a data URL, as far as there is room; empty when the bundle does not carry it.',
            ),
            filename: text('The name of the file.'),
            mimeType: text('What kind of file it is.'),
          }),
        ),
      }),
    ),
    skills: list(
      'Its skills, by name; none without the scope SKILLS:READ.',
      shapedType('BundledSkill', 'A skill.', {
        name: text('Its name.'),
        description: text('When the agent should use the skill.'),
        content: text('The instructions.'),
        enabled: flag('Whether the skill is enabled.'),
      }),
    ),
    requiredSecrets: list(
      'What its tools need, by key.',
      shapedType('RequiredSecret', 'A credential that the importer of the bundle supplies.', {
        key: text('The name by which tools refer to it.'),
        description: text('What it is for.'),
        secretType: reference('SecretType', 'The kind of credential.'),
      }),
    ),
    datasets: list(
      'Its datasets, by name, for who may edit it. Without cases that were made of what people said. Absent without any.',
      shapedType('BundledDataset', 'A dataset with its cases.', {
        name: text('Its name.'),
        description: text('What it is for.'),
        callsTools: flag('Whether experiments call tools that change something.'),
        cases: list('The cases of its newest revision.', described({ description: caseForm })),
      }),
    ).optional(),
    gate: shapedType('BundledGate', 'What a draft must pass before it is published.', {
      dataset: int32('The place of its dataset in `datasets`, from 0.'),
      mustTag: text('No case with this label may fail.').nullable(),
      rateDropMax: number(gateNumbers.rateDropMax).nullable(),
      costRatioMax: number(gateNumbers.costRatioMax).nullable(),
      tokensMax: number(gateNumbers.tokensMax),
      scorers: list('How answers are scored.', described({ description: scorerForm })),
    })
      .optional()
      .meta({ description: 'Its gate, for who may edit the agent. Absent without one.' }),
    warnings: list(
      'What the caller may not read and the bundle therefore lacks, each with its member; null when it is whole.',
      reference('Warning'),
    ).optional(),
  },
);

/** Every list and every agent has its members in the order of the schema, whatever the order is that they are stored in. */
function showBundle(bundle: AgentBundle, context: ShownTo): Sent<typeof shownBundle> {
  const { version, exportedAt, source, agent, tools, userInputs, flows, dataSources, skills, requiredSecrets, warnings } = bundle;
  const { datasets, gate } = bundle;
  return {
    version,
    exportedAt: exportedAt.toISOString(),
    source,
    agent: showAgent(agent, context),
    tools,
    userInputs,
    flows: flows.map(({ name, enabled, versions }) => ({
      ...{ name, enabled },
      versions: versions.map(({ version: number, active, description, data }) => ({
        version: number,
        active,
        description,
        data,
      })),
    })),
    dataSources,
    skills,
    requiredSecrets,
    datasets: datasets ?? undefined,
    gate: gate ?? undefined,
    warnings: warnings ?? undefined,
  };
}

function showAgent(agent: BundledAgent, context: ShownTo): Sent<typeof shownBundle>['agent'] {
  const { enabledTools = [], options, profile, ...members } = agent;
  const { name, introduction, description, instructions, seed, src, modelId, visibility, ...flags } = members;
  const { listInOrgCatalog, listInPublicCatalog, listInTenantCatalog, ...others } = flags;
  return {
    ...{ name, introduction, description, instructions, seed, src, modelId, visibility },
    ...{ listInOrgCatalog, listInPublicCatalog, listInTenantCatalog, ...others },
    enabledTools: enabledTools.map((tool) => showTool(tool, context)),
    options: showOptions(options),
    profile: showProfile(profile),
  };
}

export const bundleReply: WireReply = { schema: 'AgentBundle', encode: showBundle };
