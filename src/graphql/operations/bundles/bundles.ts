import { getAgent } from '../../../domain/agents/agents.ts';
import { exportAgent } from '../../../domain/operations/bundles/export.ts';
import { bundleFile } from '../../../domain/operations/bundles/file.ts';
import { type ImportResult, importAgent } from '../../../domain/operations/bundles/import.ts';
import type { AgentBundle, BundledDataSource, BundledTool, BundledUserInput } from '../../../entities/agents/bundle.ts';
import { AgentType } from '../../agents/agents.ts';
import { AgentVisibilityType } from '../../agents/enums.ts';
import { AgentProfileType, RestAgentOptions } from '../../agents/parts.ts';
import { SecretTypeType } from '../../agents/secrets.ts';
import { RestEnabledTool } from '../../agents/tools/rest.ts';
import { AgentToolTypeType } from '../../agents/tools.ts';
import { UserInputTypeType } from '../../agents/user-inputs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { restOnly } from '../../ground/builder/one-api.ts';
import { WarningType } from '../../ground/types/warnings.ts';
import { DataSourceKind, RefreshPeriodType } from '../../knowledge/sources.ts';
import { ImportAgentInput } from './inputs.ts';

const SourceResource = builder.objectRef<AgentBundle['source']>('AgentBundleSource').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'Where a bundle comes from.',
  fields: (t) => ({
    apiBaseUrl: t.exposeString('apiBaseUrl', { description: 'The address of that service.' }),
    orgId: t.exposeString('orgId', { description: 'The organization there.' }),
  }),
});

const BundledAgentResource = builder.objectRef<AgentBundle['agent']>('BundledAgent').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'The agent itself, without what belongs to one organization.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    introduction: t.exposeString('introduction', { nullable: true, description: 'How it greets.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    instructions: t.exposeString('instructions', { description: 'The instructions for the model.' }),
    seed: t.exposeString('seed', { description: 'Text that new chats begin from.' }),
    src: t.exposeString('src', { description: 'Its picture.' }),
    modelId: t.exposeString('modelId', { description: 'The model that answers.' }),
    visibility: t.expose('visibility', { type: AgentVisibilityType, description: 'Who may use it.' }),
    listInOrgCatalog: t.exposeBoolean('listInOrgCatalog', { description: "Whether the organization's catalog lists it." }),
    listInPublicCatalog: t.exposeBoolean('listInPublicCatalog', { description: 'Whether the public catalog lists it.' }),
    listInTenantCatalog: t.exposeBoolean('listInTenantCatalog', { description: "Whether the tenant's catalog lists it." }),
    chatLogsVisible: t.exposeBoolean('chatLogsVisible', { description: 'Whether its editors may read its chats.' }),
    generateCitations: t.exposeBoolean('generateCitations', { description: 'Whether answers cite.' }),
    intermediateStepsVisible: t.exposeBoolean('intermediateStepsVisible', { description: 'Whether users see the steps.' }),
    enabledTools: t.field({
      type: [RestEnabledTool],
      description: 'The tools of the service that its runs may use.',
      resolve: ({ enabledTools }) => enabledTools ?? [],
    }),
    options: t.field({ type: RestAgentOptions, description: 'How the model samples.', resolve: ({ options }) => options }),
    profile: t.field({ type: AgentProfileType, description: 'How it is presented.', resolve: ({ profile }) => profile }),
  }),
});

const BundledToolResource = builder.objectRef<BundledTool>('BundledTool').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A tool, its secrets replaced by references.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name the model calls it by.' }),
    type: t.expose('type', { type: AgentToolTypeType, description: 'Its type.' }),
    data: t.field({ type: 'JSON', description: 'The configuration of the tool.', resolve: ({ data }) => data }),
  }),
});

const BundledUserInputResource = builder.objectRef<BundledUserInput>('BundledUserInput').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A variable of the instructions.',
  fields: (t) => ({
    variableName: t.exposeString('variableName', { description: 'Its name in the instructions.' }),
    type: t.expose('type', { type: UserInputTypeType, description: 'The type of its value.' }),
    label: t.exposeString('label', { description: 'What the user is asked.' }),
    configuration: t.field({
      type: 'JSON',
      description: 'The settings of the question.',
      resolve: ({ configuration }) => configuration,
    }),
    showOnChatCreate: t.exposeBoolean('showOnChatCreate', { description: 'Whether it is asked when a chat is created.' }),
    orderIndex: t.exposeInt('orderIndex', { description: 'Its position: lower numbers are asked first.' }),
  }),
});

type Flow = AgentBundle['flows'][number];
const BundledFlowVersionResource = builder.objectRef<Flow['versions'][number]>('BundledFlowVersion').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'One version of a flow.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number.' }),
    active: t.exposeBoolean('active', { description: 'Whether this version is the active one.' }),
    description: t.exposeString('description', { description: 'What changed in this version.' }),
    data: t.field({ type: 'JSON', description: 'Its steps.', resolve: ({ data }) => data }),
  }),
});
const BundledFlowResource = builder.objectRef<Flow>('BundledFlow').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A flow with its versions.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the flow is enabled.' }),
    versions: t.field({
      type: [BundledFlowVersionResource],
      description: 'Its versions, by number.',
      resolve: ({ versions }) => versions,
    }),
  }),
});

const BundledItemResource = builder.objectRef<BundledDataSource['knowledgeItems'][number]>('BundledKnowledgeItem').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'One document of a data source.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its title.' }),
    type: t.exposeString('type', { description: 'The type of its source.' }),
    uniqueId: t.exposeString('uniqueId', { description: 'Unique in its source.' }),
    blobUrl: t.exposeString('blobUrl', {
      description:
        'Its content: for uploaded files a data URL, as far as there is room; empty when the bundle does not carry it.',
    }),
    filename: t.exposeString('filename', { description: 'The name of the file.' }),
    mimeType: t.exposeString('mimeType', { description: 'What kind of file it is.' }),
  }),
});
const BundledSourceResource = builder.objectRef<BundledDataSource>('BundledDataSource').implement({
  access: { scope: 'DATA_SOURCES:READ' },
  description: 'A data source with its documents.',
  fields: (t) => ({
    originalId: t.exposeString('originalId', { description: 'Its id where the bundle comes from.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    type: t.expose('type', { type: DataSourceKind, description: 'Its type.' }),
    refreshPeriod: t.expose('refreshPeriod', { type: RefreshPeriodType, description: 'How often it is refreshed.' }),
    data: t.field({ type: 'JSON', description: 'The payload itself, or how it is read.', resolve: ({ data }) => data }),
    knowledgeItems: t.field({
      type: [BundledItemResource],
      description: 'Its documents.',
      resolve: (source) => source.knowledgeItems,
    }),
  }),
});

const BundledSkillResource = builder.objectRef<AgentBundle['skills'][number]>('BundledSkill').implement({
  access: { scope: 'SKILLS:READ' },
  description: 'A skill.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', { description: 'When the agent should use the skill.' }),
    content: t.exposeString('content', { description: 'The instructions.' }),
    enabled: t.exposeBoolean('enabled', { description: 'Whether the skill is enabled.' }),
  }),
});

const RequiredSecretResource = builder.objectRef<AgentBundle['requiredSecrets'][number]>('RequiredSecret').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A credential that the importer of the bundle supplies.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The name by which tools refer to it.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    secretType: t.expose('secretType', { type: SecretTypeType, description: 'The kind of credential.' }),
  }),
});

const AgentBundleResource = builder.objectRef<AgentBundle>('AgentBundle').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A portable agent, without any secret. The same agent gives the same bundle but for `exportedAt`.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version of the format: `1.0`.' }),
    exportedAt: t.expose('exportedAt', { type: 'DateTime', description: 'When it was made.' }),
    source: t.field({
      type: SourceResource,
      description: 'The installation that exported the bundle.',
      resolve: ({ source }) => source,
    }),
    agent: t.field({ type: BundledAgentResource, description: 'The agent itself.', resolve: ({ agent }) => agent }),
    tools: t.field({ type: [BundledToolResource], description: 'Its tools, by name.', resolve: ({ tools }) => tools }),
    userInputs: t.field({
      type: [BundledUserInputResource],
      description: 'Its variables.',
      resolve: ({ userInputs }) => userInputs,
    }),
    flows: t.field({ type: [BundledFlowResource], description: 'Its flows, by name.', resolve: ({ flows }) => flows }),
    dataSources: t.field({
      type: [BundledSourceResource],
      description: 'Its knowledge; none without the scope DATA_SOURCES:READ.',
      resolve: ({ dataSources }) => dataSources,
    }),
    skills: t.field({
      type: [BundledSkillResource],
      description: 'Its skills, by name; none without the scope SKILLS:READ.',
      resolve: ({ skills }) => skills,
    }),
    requiredSecrets: t.field({
      type: [RequiredSecretResource],
      description: 'What its tools need, by key.',
      resolve: ({ requiredSecrets }) => requiredSecrets,
    }),
    warnings: t.field({
      type: [WarningType],
      nullable: true,
      description: 'What the caller may not read and the bundle therefore lacks, each with its member; null when it is whole.',
      resolve: ({ warnings }) => warnings,
    }),
  }),
});

const ImportAgentPayload = builder.objectRef<ImportResult>('ImportAgentPayload').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'The result of an import.',
  fields: (t) => ({
    agentId: t.exposeID('agentId', { nullable: true, description: 'The new agent; null for a dry run.' }),
    agent: t.field({
      type: AgentType,
      nullable: true,
      description: 'The new agent; null for a dry run.',
      resolve: ({ agentId }, _args, { deps, caller }) => (agentId === null ? null : getAgent(deps, caller, agentId)),
    }),
    warnings: t.exposeStringList('warnings', {
      description:
        'What is not as it was, sorted: `model substituted: …`, `skills skipped: …`, `data sources skipped: …`, `secret missing: <key>`, `data source content not included: <name>`.',
    }),
  }),
});

const AgentExportType = builder.objectRef<AgentBundle>('AgentExport').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'A portable agent, without any secret.',
  fields: (t) => ({
    file: t.field({
      type: 'JSON',
      description:
        'The file, which `importAgent` takes as it is. The same agent gives the same file but for `exportedAt`. JSON: it is a document of the user, which other installations read; docs/agents.md describes it.',
      resolve: bundleFile,
    }),
    requiredSecrets: t.field({
      type: [RequiredSecretResource],
      description: 'What its tools need, by key.',
      resolve: ({ requiredSecrets }) => requiredSecrets,
    }),
    warnings: t.field({
      type: [WarningType],
      description: 'What the caller may not read and the file therefore lacks, each with its member; none when it is whole.',
      resolve: ({ warnings }) => warnings ?? [],
    }),
    bundle: t.field({
      extensions: restOnly,
      type: AgentBundleResource,
      description: 'The file, with the types of its members.',
      resolve: (bundle) => bundle,
    }),
  }),
});

builder.queryField('agentBundle', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: AgentExportType,
    description:
      'A portable agent, for everybody who may use an agent of the own organization; INSTANCE keys across organizations. Warnings name what the key may not read and is left out.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      includeDataSources: t.arg.boolean({
        required: false,
        description:
          'Whether its knowledge comes along. Default: when the key has the scope DATA_SOURCES:READ; true without it is INSUFFICIENT_SCOPE.',
      }),
      dataSourceIds: t.arg.idList({ required: false, description: 'Only these data sources.' }),
      dataSourceIdsText: t.arg.string({
        extensions: restOnly,
        required: false,
        description: 'Ids separated by commas: only these data sources.',
      }),
    },
    resolve: async (_root, { agentId, dataSourceIdsText, ...query }, { deps, caller, notes }) => {
      const dataSourceIds = query.dataSourceIds ?? dataSourceIdsText?.split(',').map((id) => id.trim());
      const bundle = await exportAgent(deps, caller, agentId, { ...query, dataSourceIds });
      if (bundle.warnings !== null) notes?.set('x-parley-warnings', bundle.warnings.map(({ message }) => message).join('; '));
      return bundle;
    },
  }),
);

builder.mutationField('importAgent', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ImportAgentPayload,
    description: "Makes an agent of the caller's own from a bundle: all of it, or nothing.",
    args: {
      input: t.arg({ type: ImportAgentInput, description: 'The bundle, and what it needs.' }),
      dryRun: t.arg.boolean({ required: false, description: 'Only reports the result and writes nothing. Default false.' }),
    },
    resolve: (_root, { input, dryRun }, { deps, caller, signal }) => importAgent(deps, caller, input, dryRun ?? false, signal),
  }),
);
