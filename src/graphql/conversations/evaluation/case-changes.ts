import { importCases } from '../../../domain/conversations/evaluation/case-files.ts';
import { addCases, agreeToCases, removeCases, updateCase } from '../../../domain/conversations/evaluation/cases.ts';
import { addRunsToDataset } from '../../../domain/conversations/evaluation/cases-from-runs.ts';
import { draftCases } from '../../../domain/conversations/evaluation/draft-cases.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import { builder } from '../../ground/builder/builder.ts';
import { DatasetRef } from '../../ground/refs.ts';
import { ChatUserInputInput } from '../chats/chats.ts';
import { toInputs } from '../schedules.ts';
import { CaseFormatType, CaseRoleType } from './datasets.ts';

const CaseMessageInput = builder.inputType('DatasetCaseMessageInput', {
  description: 'What was said before the question of a case.',
  fields: (t) => ({
    role: t.field({ type: CaseRoleType, description: 'Who said it.' }),
    content: t.string({ description: 'The text; at most 20,000 characters.' }),
  }),
});

const CaseFileInput = builder.inputType('DatasetCaseFileInput', {
  description: 'A document that comes with the question of a case.',
  fields: (t) => ({
    filename: t.string({ description: 'Its name.' }),
    text: t.string({ description: 'Its text; at most 100,000 characters.' }),
  }),
});

const WantedCallInput = builder.inputType('WantedCallInput', {
  description: 'A call of a tool that a case wants.',
  fields: (t) => ({
    name: t.string({ description: 'The name of the tool.' }),
    arguments: t.string({
      required: false,
      description: 'Arguments that the call must have, among others, as the text of a JSON object. Default: any.',
    }),
  }),
});

const RecordedCallInput = builder.inputType('RecordedCallInput', {
  description: 'A call of a tool whose output experiments replay.',
  fields: (t) => ({
    name: t.string({ description: 'The name of the tool.' }),
    arguments: t.string({ required: false, description: 'Its arguments, as JSON text. Default: any call of the tool.' }),
    output: t.string({ required: false, description: 'What the tool gave; at most 50,000 characters.' }),
    error: t.string({ required: false, description: 'Why it failed. Default: it did not.' }),
  }),
});

const facts = 'at most 50 texts of 1,000 characters';

const DatasetCaseInput = builder.inputType('DatasetCaseInput', {
  description: 'What is asked, and what a good answer must be. What is left out is not asked for.',
  fields: (t) => ({
    question: t.string({ description: 'What is asked; 1 to 20,000 characters.' }),
    messages: t.field({
      type: [CaseMessageInput],
      required: false,
      description: 'What was said before, oldest first; at most 100.',
    }),
    userInputs: t.field({
      type: [ChatUserInputInput],
      required: false,
      description: 'Values of the user inputs of the agent; at most 100.',
    }),
    files: t.field({ type: [CaseFileInput], required: false, description: 'Documents that come with it; at most 10.' }),
    expected: t.string({ required: false, description: 'A good answer; at most 20,000 characters.' }),
    mustContain: t.stringList({ required: false, description: `Facts that must stand in the answer: ${facts}.` }),
    mustNotContain: t.stringList({ required: false, description: `Facts that must not stand in it: ${facts}.` }),
    mustCite: t.stringList({ required: false, description: `Ids or names of documents that it must cite: ${facts}.` }),
    mustCall: t.field({
      type: [WantedCallInput],
      required: false,
      description: 'Calls of tools that must be made, each by a call of its own, in any order; at most 50.',
    }),
    mustNotCall: t.stringList({ required: false, description: `Names of tools that must not be called: ${facts}.` }),
    mustRefuse: t.boolean({
      required: false,
      description: 'Whether a good answer says that it cannot answer. Default: it is not asked.',
    }),
    rubric: t.string({ required: false, description: 'What a judge weighs; at most 4,000 characters.' }),
    recordedCalls: t.field({
      type: [RecordedCallInput],
      required: false,
      description: 'Calls whose outputs experiments replay; at most 50.',
    }),
    tags: t.stringList({ required: false, description: 'Labels; at most 10 of 50 characters.' }),
    weight: t.float({ required: false, description: 'How much it counts beside the others; above 0, up to 1,000. Default: 1.' }),
    isDraft: t.boolean({ required: false, description: 'Experiments leave it out. Default: false.' }),
  }),
});

/** A case as files have it. @param path  of the case in the arguments. @throws DomainError INVALID_VALUE for a user input that stands there twice. */
function toCaseInput({ userInputs, ...input }: typeof DatasetCaseInput.$inferInput, path: string) {
  const names = (userInputs ?? []).map(({ name }) => name);
  const index = names.findIndex((name, place) => names.indexOf(name) < place);
  if (index < 0) return { ...input, userInputs: toInputs(userInputs) };
  const param = `${path}userInputs[${index}].name`;
  throw new DomainError('INVALID_VALUE', `${param} stands in the list twice`, { param });
}

const datasetId = { description: 'The id of the dataset.' };
const caseIds = { description: 'The ids of cases; 1 to 500.' };
const scope = { key: 'AGENTS:WRITE' } as const;

builder.mutationFields((t) => ({
  addDatasetCases: t.field({
    authScopes: scope,
    type: DatasetRef,
    description: 'Adds cases to a dataset, which has at most 10,000.',
    args: {
      datasetId: t.arg.id(datasetId),
      cases: t.arg({ type: [DatasetCaseInput], description: 'The cases; 1 to 500.' }),
    },
    resolve: (_root, args, { deps, caller }) =>
      addCases(
        deps,
        caller,
        args.datasetId,
        args.cases.map((one, index) => toCaseInput(one, `cases[${index}].`)),
      ),
  }),
  updateDatasetCase: t.field({
    authScopes: scope,
    type: DatasetRef,
    description: 'Replaces a case of a dataset. Revisions before keep it as it was.',
    args: {
      datasetId: t.arg.id(datasetId),
      caseId: t.arg.id({ description: 'The id of the case.' }),
      input: t.arg({ type: DatasetCaseInput, description: 'The case as it is from now on.' }),
    },
    resolve: (_root, args, { deps, caller }) =>
      updateCase(deps, caller, args.datasetId, args.caseId, toCaseInput(args.input, '')),
  }),
  agreeToDatasetCases: t.field({
    authScopes: scope,
    type: DatasetRef,
    description: 'Agrees to drafts: experiments ask them from now on.',
    args: { datasetId: t.arg.id(datasetId), caseIds: t.arg.idList(caseIds) },
    resolve: (_root, args, { deps, caller }) => agreeToCases(deps, caller, args.datasetId, args.caseIds),
  }),
  removeDatasetCases: t.field({
    authScopes: scope,
    type: DatasetRef,
    description: 'Takes cases out of a dataset. Revisions before, and experiments that ran them, keep them.',
    args: { datasetId: t.arg.id(datasetId), caseIds: t.arg.idList(caseIds) },
    resolve: (_root, args, { deps, caller }) => removeCases(deps, caller, args.datasetId, args.caseIds),
  }),
}));

/** Many cases at once: from a file, from runs, from documents. */
builder.mutationFields((t) => ({
  importDatasetCases: t.field({
    authScopes: scope,
    type: DatasetRef,
    description:
      'Adds the cases of a file: all of them, or none where a line has a fault. The error names lines and members. `datasetExport` writes such a file.',
    args: {
      datasetId: t.arg.id(datasetId),
      input: t.arg({
        type: builder.inputType('ImportDatasetCasesInput', {
          description: 'A file of cases.',
          fields: (input) => ({
            format: input.field({ type: CaseFormatType, description: 'How it is written.' }),
            content: input.string({ description: 'Its content; at most 10,000 cases.' }),
            replaces: input.boolean({ required: false, description: 'Takes the cases out that are there. Default: false.' }),
          }),
        }),
        description: 'The file.',
      }),
    },
    resolve: (_root, args, { deps, caller }) => importCases(deps, caller, args.datasetId, args.input),
  }),
  addRunsToDataset: t.field({
    authScopes: scope,
    type: DatasetRef,
    description:
      'Adds cases made of runs of the agent in chats that the caller may read, with the messages before them and what their tools gave. An answer that was rated up is expected; the comment of one that was rated down becomes a rubric. A case that expects nothing is a draft. Needs CHATS:READ too.',
    args: { datasetId: t.arg.id(datasetId), runIds: t.arg.idList({ description: 'The ids of the runs; 1 to 100.' }) },
    resolve: (_root, args, { deps, caller }) => addRunsToDataset(deps, caller, args.datasetId, args.runIds),
  }),
  draftDatasetCases: t.field({
    authScopes: scope,
    type: DatasetRef,
    description:
      'Has a model write cases from documents that the caller may open: a question, its answer, and facts. They are drafts until `agreeToDatasetCases`.',
    args: {
      datasetId: t.arg.id(datasetId),
      itemIds: t.arg.idList({ description: 'The ids of the documents (knowledge items); 1 to 20.' }),
      count: t.arg.int({ defaultValue: 10, description: 'Questions in all; 1 to 50.' }),
      modelId: t.arg.string({ required: false, description: 'The model that writes. Default: that of the agent.' }),
    },
    resolve: (_root, { datasetId: into, ...input }, { deps, caller, signal }) => draftCases(deps, caller, into, input, signal),
  }),
}));
