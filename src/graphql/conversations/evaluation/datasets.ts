import { type CaseExport, exportCases } from '../../../domain/conversations/evaluation/case-files.ts';
import {
  createDataset,
  deleteDataset,
  getDataset,
  listCases,
  listDatasets,
  updateDataset,
} from '../../../domain/conversations/evaluation/datasets.ts';
import {
  type CaseFile,
  type CaseFormat,
  type CaseMessage,
  caseFormats,
  caseRoles,
  type DatasetCase,
  type RecordedCall,
  type WantedCall,
} from '../../../entities/conversations/evaluation/dataset.ts';
import { loadAgent } from '../../agents/agent-edge.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { AgentRef, DatasetRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { ChatUserInputType } from '../chats/chats.ts';

export const CaseRoleType = createEnum('DatasetCaseRole', 'Who said a message before the question of a case.', caseRoles, {
  user: 'The person.',
  assistant: 'The agent.',
});

export const CaseFormatType = createEnum('DatasetCaseFormat', 'How a file of cases is written.', caseFormats, {
  CSV: 'A table: the first line names members of cases. A cell of a list holds JSON, or one text a line.',
  JSONL: 'One case a line, as a JSON object.',
} satisfies Record<CaseFormat, string>);

const access = { scope: 'CHATS:READ' } as const;

const CaseMessageType = builder.objectRef<CaseMessage>('DatasetCaseMessage').implement({
  access,
  description: 'What was said before the question of a case.',
  fields: (t) => ({
    role: t.expose('role', { type: CaseRoleType, description: 'Who said it.' }),
    content: t.exposeString('content', { description: 'The text.' }),
  }),
});

const CaseFileType = builder.objectRef<CaseFile>('DatasetCaseFile').implement({
  access,
  description: 'A document that comes with the question of a case.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'Its name.' }),
    text: t.exposeString('text', { description: 'Its text.' }),
  }),
});

const WantedCallType = builder.objectRef<WantedCall>('WantedCall').implement({
  access,
  description: 'A call of a tool that a case wants.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the tool.' }),
    arguments: t.string({
      nullable: true,
      description: 'Arguments that the call must have, among others, as JSON text; null: any.',
      resolve: (call) => (call.arguments === null ? null : JSON.stringify(call.arguments)),
    }),
  }),
});

const RecordedCallType = builder.objectRef<RecordedCall>('RecordedCall').implement({
  access,
  description: 'A call that the run of a case made. Experiments replay what it gave.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the tool.' }),
    arguments: t.exposeString('arguments', { description: 'Its arguments, as JSON text.' }),
    output: t.exposeString('output', { description: 'What the tool gave.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed; null when it did not.' }),
  }),
});

export const DatasetCaseType = builder.objectRef<DatasetCase>('DatasetCase').implement({
  access,
  description: 'What is asked, and what a good answer must be. What a case does not say is not asked for.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the case; it stays when the case changes.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    sinceRevision: t.exposeInt('fromRevision', { description: 'The revision of the dataset since which it is as it is.' }),
    question: t.string({ description: 'What is asked.', resolve: ({ content }) => content.question }),
    messages: t.field({
      type: [CaseMessageType],
      description: 'What was said before, oldest first; at most 100.',
      resolve: ({ content }) => [...content.messages],
    }),
    userInputs: t.field({
      type: [ChatUserInputType],
      description: 'Values of the user inputs of the agent; at most 100.',
      resolve: ({ content }) => Object.entries(content.userInputs),
    }),
    files: t.field({
      type: [CaseFileType],
      description: 'Documents that come with the question; at most 10.',
      resolve: ({ content }) => [...content.files],
    }),
    expected: t.string({
      nullable: true,
      description: 'A good answer; null for none.',
      resolve: ({ content }) => content.expected,
    }),
    mustContain: t.stringList({
      description: 'Facts that must stand in the answer.',
      resolve: ({ content }) => [...content.mustContain],
    }),
    mustNotContain: t.stringList({
      description: 'Facts that must not stand in it.',
      resolve: ({ content }) => [...content.mustNotContain],
    }),
    mustCite: t.stringList({
      description: 'Ids or names of documents that it must cite.',
      resolve: ({ content }) => [...content.mustCite],
    }),
    mustCall: t.field({
      type: [WantedCallType],
      description: 'Calls of tools that must be made, each by a call of its own, in any order; at most 50.',
      resolve: ({ content }) => [...content.mustCall],
    }),
    mustNotCall: t.stringList({
      description: 'Names of tools that must not be called.',
      resolve: ({ content }) => [...content.mustNotCall],
    }),
    mustRefuse: t.boolean({
      nullable: true,
      description: 'Whether a good answer says that it cannot answer; null: it is not asked.',
      resolve: ({ content }) => content.mustRefuse,
    }),
    rubric: t.string({
      nullable: true,
      description: 'What a judge weighs; null for none.',
      resolve: ({ content }) => content.rubric,
    }),
    recordedCalls: t.field({
      type: [RecordedCallType],
      description: 'Calls whose outputs experiments replay; at most 50.',
      resolve: ({ content }) => [...content.recordedCalls],
    }),
    tags: t.stringList({ description: 'Its labels.', resolve: ({ tags }) => [...tags] }),
    weight: t.exposeFloat('weight', { description: 'How much it counts beside the others; 1 unless said otherwise.' }),
    isDraft: t.exposeBoolean('isDraft', { description: 'Nobody has agreed to it yet: experiments leave it out.' }),
    runId: t.exposeID('sourceRunId', { nullable: true, description: 'The run that it was made from; null for none.' }),
  }),
});

const DatasetType = DatasetRef.implement({
  access: { scope: 'AGENTS:READ' },
  description:
    'Questions with what a good answer to each must be, to try an agent with. Who may edit the agent sees and changes it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the dataset.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    description: t.exposeString('description', { description: 'What it is for.' }),
    callsTools: t.exposeBoolean('callsTools', {
      description: 'Whether experiments call tools that change something, instead of replaying what they gave.',
    }),
    revision: t.exposeInt('revision', {
      description: 'Grows with each change of its cases. An experiment names the one it ran.',
    }),
    caseCount: t.exposeInt('caseCount', { description: 'Its cases, drafts included.' }),
    draftCount: t.exposeInt('draftCount', { description: 'Cases that nobody has agreed to yet.' }),
    agentId: t.exposeID('agentId', { description: 'The agent that it is for.' }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      description: 'That agent.',
      resolve: ({ agentId }, _args, context, info) => loadAgent(context, agentId, info),
    }),
  }),
});

const DatasetConnection = makeConnection(DatasetType, 'Dataset', 'Datasets');
const DatasetCaseConnection = makeConnection(DatasetCaseType, 'DatasetCase', 'DatasetCases');

const CaseExportType = builder.objectRef<CaseExport>('DatasetExport').implement({
  access,
  description: 'The cases of a dataset as a file.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'A name for the file.' }),
    contentType: t.exposeString('contentType', { description: 'Its media type.' }),
    content: t.string({ description: 'Its content.', resolve: (file) => file.content() }),
  }),
});

const id = { description: 'The id of the dataset.' };
const revision = { required: false, description: 'A revision of the dataset. Default: the newest.' } as const;

builder.queryFields((t) => ({
  dataset: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: DatasetType,
    nullable: true,
    description: 'One dataset of an agent that the caller may edit; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getDataset(deps, caller, args.id, 'id'),
  }),
  datasets: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: DatasetConnection,
    description: 'The datasets of an agent that the caller may edit, newest first.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }), ...pageArgs(t.arg) },
    resolve: (_root, args, context) => listDatasets(context.deps, context.caller, args.agentId, pageRequest(context, args)),
  }),
  datasetCases: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: DatasetCaseConnection,
    description: 'The cases of a dataset, oldest first.',
    args: {
      datasetId: t.arg.id(id),
      revision: t.arg.int(revision),
      tag: t.arg.string({ required: false, description: 'Only those with this label.' }),
      isDraft: t.arg.boolean({ required: false, description: 'Only drafts, or only others. Default: all.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) => listCases(context.deps, context.caller, args.datasetId, args, pageRequest(context, args)),
  }),
  datasetExport: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: CaseExportType,
    description: 'The cases of a dataset as a file, which `importDatasetCases` reads.',
    args: {
      datasetId: t.arg.id(id),
      format: t.arg({ type: CaseFormatType, description: 'How it is written.' }),
      revision: t.arg.int(revision),
    },
    resolve: (_root, args, { deps, caller }) => exportCases(deps, caller, args.datasetId, args.format, args.revision ?? null),
  }),
}));

const words = {
  name: '1 to 200 characters.',
  description: 'What it is for; at most 2,000 characters.',
  callsTools:
    'Whether experiments call tools that change something. Default: they replay what the run of the case recorded; tools that only read are called.',
};

const CreateDatasetInput = builder.inputType('CreateDatasetInput', {
  description: 'A new dataset.',
  fields: (t) => ({
    name: t.string({ description: words.name }),
    description: t.string({ required: false, description: words.description }),
    callsTools: t.boolean({ required: false, description: words.callsTools }),
  }),
});

const UpdateDatasetInput = builder.inputType('UpdateDatasetInput', {
  description: 'Changes of a dataset: absent members are kept.',
  fields: (t) => ({
    name: t.string({ required: false, description: words.name }),
    description: t.string({ required: false, description: words.description }),
    callsTools: t.boolean({ required: false, description: words.callsTools }),
  }),
});

builder.mutationFields((t) => ({
  createDataset: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: DatasetType,
    description: 'Makes a dataset for an agent that the caller may edit; an agent has at most 100.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: CreateDatasetInput, description: 'The dataset.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => createDataset(deps, caller, agentId, input),
  }),
  updateDataset: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: DatasetType,
    description: 'Changes what a dataset is called and how experiments use it.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateDatasetInput, description: 'What to change.' }) },
    resolve: (_root, args, { deps, caller }) => updateDataset(deps, caller, args.id, args.input),
  }),
  deleteDataset: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: DatasetType,
    description: 'Deletes a dataset with its cases and experiments. Answers what it was.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => deleteDataset(deps, caller, args.id),
  }),
}));
