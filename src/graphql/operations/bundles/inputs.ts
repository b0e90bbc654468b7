import type { ImportInput } from '../../../domain/operations/bundles/read-bundle.ts';
import { partMembers } from '../../../wire/agent-parts.ts';
import { agentImportBody } from '../../../wire/bundles.ts';
import { AgentVisibilityType } from '../../agents/enums.ts';
import { RestFlowVersionInput } from '../../agents/flows.ts';
import { RestAgentOptionsInput, RestAgentProfileInput } from '../../agents/inputs.ts';
import { SecretTypeType } from '../../agents/secrets.ts';
import { RestToolInput } from '../../agents/tools/rest.ts';
import { AgentToolTypeType } from '../../agents/tools.ts';
import { UserInputConfigurationInput, UserInputTypeType } from '../../agents/user-inputs.ts';
import { builder } from '../../ground/builder/builder.ts';
import { byName, flatInput } from '../../ground/builder/flat-inputs.ts';
import { strictInput } from '../../ground/types/json-inputs.ts';
import { NamedTextInput } from '../../ground/types/named-texts.ts';
import { DataSourceKind, RefreshPeriodType } from '../../knowledge/sources.ts';

/** The file of an export, as REST reads it; GraphQL takes it as JSON. */
const BundleSourceInput = builder.inputType('AgentBundleSourceInput', {
  description: 'Where a bundle comes from; not used.',
  fields: (t) => ({
    apiBaseUrl: t.string({ required: false, description: 'The address of that service.' }),
    orgId: t.string({ required: false, description: 'The organization there.' }),
  }),
});
const BundledAgentInput = builder.inputType('BundledAgentInput', {
  description: 'The agent itself.',
  fields: (t) => ({
    name: t.string({ description: '1 to 200 characters.' }),
    introduction: t.string({ required: false, description: 'How it greets.' }),
    description: t.string({ description: 'What it is for.' }),
    instructions: t.string({ description: 'The instructions for the model.' }),
    seed: t.string({ required: false, description: 'Text that new chats begin from.' }),
    src: t.string({ description: 'Its picture.' }),
    modelId: t.string({ required: false, description: 'The model that answers; one that is not here is substituted.' }),
    visibility: t.field({ type: AgentVisibilityType, required: false, description: 'Who may use it. Default PRIVATE.' }),
    listInOrgCatalog: t.boolean({ required: false, description: "Whether the organization's catalog lists it." }),
    listInPublicCatalog: t.boolean({ required: false, description: 'Whether the public catalog lists it.' }),
    listInTenantCatalog: t.boolean({ required: false, description: "Whether the tenant's catalog lists it." }),
    chatLogsVisible: t.boolean({ required: false, description: 'Whether its editors may read its chats.' }),
    generateCitations: t.boolean({ required: false, description: 'Whether answers cite.' }),
    intermediateStepsVisible: t.boolean({ required: false, description: 'Whether users see the steps.' }),
    enabledTools: t.field({
      type: [RestToolInput],
      required: false,
      description: 'The tools of the service that its runs may use.',
    }),
    options: t.field({ type: RestAgentOptionsInput, required: false, description: 'How the model samples.' }),
    profile: t.field({ type: RestAgentProfileInput, required: false, description: 'How it is presented.' }),
  }),
});
const BundledToolInput = builder.inputType('BundledToolInput', {
  description: 'A tool.',
  extensions: strictInput(...partMembers, 'description'),
  fields: (t) => ({
    name: t.string({ description: 'The name the model calls it by.' }),
    type: t.field({ type: AgentToolTypeType, description: 'Its type.' }),
    data: t.field({
      type: 'JSON',
      description:
        'The configuration of the tool. Secrets in it are moved into the vault. JSON: its form depends on the type of the tool.',
    }),
  }),
});
const BundledUserInputInput = builder.inputType('BundledUserInputInput', {
  description: 'A variable of the instructions.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    variableName: t.string({ description: 'Its name in the instructions.' }),
    type: t.field({ type: UserInputTypeType, description: 'The type of its value.' }),
    label: t.string({ description: 'What the user is asked.' }),
    configuration: t.field({
      type: UserInputConfigurationInput,
      required: false,
      description: 'The settings of the question.',
    }),
    showOnChatCreate: t.boolean({ required: false, description: 'Whether it is asked when a chat is created.' }),
    orderIndex: t.int({ required: false, description: 'Its position: lower numbers are asked first.' }),
  }),
});
const BundledFlowInput = builder.inputType('BundledFlowInput', {
  description: 'A flow with its versions.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ description: 'Its name.' }),
    enabled: t.boolean({ required: false, description: 'Whether the flow is enabled.' }),
    versions: t.field({ type: [RestFlowVersionInput], required: false, description: 'One active at most.' }),
  }),
});
const BundledItemInput = builder.inputType('BundledKnowledgeItemInput', {
  description: 'One document of a data source.',
  fields: (t) => ({
    name: t.string({ required: false, description: 'Its title.' }),
    type: t.string({ required: false, description: 'Not used: its source says.' }),
    uniqueId: t.string({ required: false, description: 'Unique in its source.' }),
    blobUrl: t.string({ required: false, description: 'Its content: a data URL, or a public address to fetch it from.' }),
    filename: t.string({ required: false, description: 'The name of the file.' }),
    mimeType: t.string({ required: false, description: 'What kind of file it is.' }),
  }),
});
const BundledSourceInput = builder.inputType('BundledDataSourceInput', {
  description: 'A data source with its documents.',
  fields: (t) => ({
    originalId: t.string({ required: false, description: 'Its id where the bundle comes from; not used.' }),
    name: t.string({ description: 'Its name.' }),
    type: t.field({ type: DataSourceKind, description: 'Its type.' }),
    refreshPeriod: t.field({ type: RefreshPeriodType, required: false, description: 'How often it is refreshed.' }),
    data: t.field({ type: 'JSON', required: false, description: 'The payload itself, or how it is read. JSON: any object.' }),
    knowledgeItems: t.field({ type: [BundledItemInput], required: false, description: 'Its documents.' }),
  }),
});
const BundledSkillInput = builder.inputType('BundledSkillInput', {
  description: 'A skill.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    name: t.string({ description: 'Its name.' }),
    description: t.string({ required: false, description: 'When the agent should use the skill.' }),
    content: t.string({ description: 'The instructions.' }),
    enabled: t.boolean({ required: false, description: 'Whether the skill is enabled.' }),
  }),
});
const RequiredSecretInput = builder.inputType('RequiredSecretInput', {
  description: 'A credential that the tools need.',
  extensions: strictInput(...partMembers),
  fields: (t) => ({
    key: t.string({ description: 'The name by which tools refer to it.' }),
    description: t.string({ required: false, description: 'What it is for.' }),
    secretType: t.field({ type: SecretTypeType, required: false, description: 'What it is. Default apiKey.' }),
  }),
});
const BundleWarningInput = builder.inputType('AgentBundleWarningInput', {
  description: 'What the export left out; not used.',
  fields: (t) => ({
    code: t.string({ required: false, description: 'For programs.' }),
    message: t.string({ required: false, description: 'For a person.' }),
    param: t.string({ required: false, description: 'The member that was left out.' }),
  }),
});
builder.inputType('AgentBundleInput', {
  description: 'A portable agent, as an export answers it.',
  fields: (t) => ({
    version: t.string({ description: 'The version of the format: `1.0`.' }),
    exportedAt: t.field({ type: 'DateTime', required: false, description: 'When it was made; not used.' }),
    source: t.field({ type: BundleSourceInput, required: false, description: 'Where it comes from; not used.' }),
    agent: t.field({ type: BundledAgentInput, description: 'The agent itself.' }),
    tools: t.field({ type: [BundledToolInput], required: false, description: 'At most 64.' }),
    userInputs: t.field({ type: [BundledUserInputInput], required: false, description: 'At most 50.' }),
    flows: t.field({ type: [BundledFlowInput], required: false, description: 'At most 50.' }),
    dataSources: t.field({ type: [BundledSourceInput], required: false, description: 'At most 1,000 with 20,000 documents.' }),
    skills: t.field({ type: [BundledSkillInput], required: false, description: 'At most 100; skipped without SKILLS:WRITE.' }),
    requiredSecrets: t.field({ type: [RequiredSecretInput], required: false, description: 'At most 200.' }),
    warnings: t.field({ type: [BundleWarningInput], required: false, description: 'What the export left out; not used.' }),
  }),
});
export const ImportAgentInput = flatInput<ImportInput>(
  builder.inputType('ImportAgentInput', {
    description: 'A file that an export made, to make an agent from.',
    fields: (t) => ({
      bundle: t.field({
        type: 'JSON',
        description:
          'The file, as `agentBundle` gives it. JSON: it is a document of the user, which other installations read; docs/agents.md describes it.',
      }),
      name: t.string({ required: false, description: "Instead of the bundle's name; 1 to 200 characters." }),
      secrets: t.field({
        type: [NamedTextInput],
        required: false,
        description: 'Values by the keys of `requiredSecrets`: texts of at most 4,096 bytes.',
      }),
    }),
  }),
  { body: agentImportBody, members: { bundle: { isJson: true }, secrets: byName } },
);
