import {
  cancelExperiment,
  getExperiment,
  listExperiments,
  resumeExperiment,
  runExperiment,
} from '../../../domain/conversations/evaluation/experiments.ts';
import {
  exportExperiment,
  type Report,
  type ReportFormat,
  reportFormats,
} from '../../../domain/conversations/evaluation/reports.ts';
import { watchExperiment } from '../../../domain/conversations/evaluation/watch-experiment.ts';
import {
  type Comparison,
  type ExperimentStatus,
  type ExperimentSummary,
  experimentStatuses,
  type Interval,
  type Variant,
  type VariantSummary,
  type Verdict,
  verdicts,
} from '../../../entities/conversations/evaluation/experiment.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { ExperimentRef } from '../../ground/refs.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { ScorerInputType, ScorerType } from './scorers.ts';

const ExperimentStatusType = createEnum('ExperimentStatus', 'How far an experiment is.', experimentStatuses, {
  WAITING: 'It waits for its turn.',
  RUNNING: 'Its cases are being asked.',
  DONE: 'All were asked.',
  STOPPED: 'Its budget, or a limit of the organization, is used up; `error` says which.',
  FAILED: 'It cannot go on; `error` says why.',
  CANCELLED: 'Somebody has ended it.',
} satisfies Record<ExperimentStatus, string>);

const VerdictType = createEnum('ExperimentVerdict', 'How a variant differs from the first.', verdicts, {
  BETTER: 'Its rate is higher: the whole interval of the difference is above 0.',
  SAME: 'No case differs.',
  WORSE: 'Its rate is lower: the whole interval of the difference is below 0.',
  NOT_ENOUGH_CASES: 'Too few cases to tell: the interval has 0 in it, or there are fewer than five pairs.',
} satisfies Record<Verdict, string>);

const ReportFormatType = createEnum('ExperimentReportFormat', 'How a report of an experiment is written.', reportFormats, {
  CSV: 'A line for each answer.',
  JUNIT: 'JUnit XML: a suite for each variant, a test for each answer.',
} satisfies Record<ReportFormat, string>);

const access = { scope: 'AGENTS:READ' } as const;

const VariantType = builder.objectRef<Variant>('ExperimentVariant').implement({
  access,
  description: 'Who is asked in an experiment.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The number of a version of the agent, or `draft`.' }),
    modelId: t.exposeString('modelId', { nullable: true, description: "The model in place of the agent's; null: the agent's." }),
  }),
});

const IntervalType = builder.objectRef<Interval>('ExperimentInterval').implement({
  access,
  description: 'Where a number lies in 95 of 100 drawings of the cases.',
  fields: (t) => ({
    low: t.exposeFloat('low', { description: 'Its lower end.' }),
    high: t.exposeFloat('high', { description: 'Its upper end.' }),
  }),
});

const VariantSummaryType = builder.objectRef<VariantSummary>('ExperimentVariantSummary').implement({
  access,
  description: 'What one variant did.',
  fields: (t) => ({
    variant: t.exposeInt('variant', { description: 'Its place among the variants, from 0.' }),
    caseCount: t.exposeInt('caseCount', { description: 'Cases with a scored answer.' }),
    rate: t.exposeFloat('rate', {
      nullable: true,
      description: 'The weighted share of passed answers, 0 to 1; null without any.',
    }),
    interval: t.expose('interval', { type: IntervalType, nullable: true, description: 'Of the rate.' }),
    failedCount: t.exposeInt('failedCount', { description: 'Questions without an answer.' }),
    unscoredCount: t.exposeInt('unscoredCount', {
      description: 'Answers of which a scorer could not say, or none has anything to say.',
    }),
    tokens: t.expose('tokens', { type: 'Count', description: 'What its answers took.' }),
    cost: t.exposeFloat('cost', { description: 'What they cost, in the currency of the models file; 0 without prices.' }),
    medianMs: t.int({
      nullable: true,
      description: 'How long half of them took at most.',
      resolve: ({ durationMs }) => durationMs?.p50 ?? null,
    }),
    p95Ms: t.int({
      nullable: true,
      description: 'How long 95 of 100 took at most.',
      resolve: ({ durationMs }) => durationMs?.p95 ?? null,
    }),
  }),
});

const ComparisonType = builder.objectRef<Comparison>('ExperimentComparison').implement({
  access,
  description: 'How a variant differs from the first, case by case.',
  fields: (t) => ({
    variant: t.exposeInt('variant', { description: 'Its place among the variants.' }),
    better: t.exposeInt('better', { description: 'Cases with a better answer.' }),
    same: t.exposeInt('same', { description: 'Cases with an answer of the same value.' }),
    worse: t.exposeInt('worse', { description: 'Cases with a worse answer.' }),
    difference: t.exposeFloat('difference', {
      nullable: true,
      description: "Its rate less the first one's; null without pairs.",
    }),
    interval: t.expose('interval', {
      type: IntervalType,
      nullable: true,
      description: 'Of the difference, by a paired bootstrap with the seed of the experiment.',
    }),
    verdict: t.expose('verdict', { type: VerdictType, description: 'What that says.' }),
    costRatio: t.exposeFloat('costRatio', {
      nullable: true,
      description: "Its cost divided by the first one's; null where that is not known.",
    }),
  }),
});

const SummaryType = builder.objectRef<ExperimentSummary>('ExperimentSummary').implement({
  access,
  description: 'What an experiment found.',
  fields: (t) => ({
    variants: t.field({
      type: [VariantSummaryType],
      description: 'One for each variant.',
      resolve: ({ variants }) => [...variants],
    }),
    comparisons: t.field({
      type: [ComparisonType],
      description: 'One for each variant but the first.',
      resolve: ({ comparisons }) => [...comparisons],
    }),
  }),
});

const ExperimentType = ExperimentRef.implement({
  access,
  description: 'A run of versions of an agent over the cases of a dataset. Who may edit the agent sees it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the experiment.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When it began; null while it waits.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended; null while it is under way.' }),
    status: t.expose('status', { type: ExperimentStatusType, description: 'How far it is.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it stopped or failed.' }),
    agentId: t.exposeID('agentId', { description: 'The agent.' }),
    datasetId: t.exposeID('datasetId', { description: 'The dataset.' }),
    revision: t.exposeInt('revision', { description: 'The revision of the dataset.' }),
    variants: t.field({
      type: [VariantType],
      description: 'Who is asked; the first is what the others are compared with. At most 16.',
      resolve: ({ variants }) => [...variants],
    }),
    scorers: t.field({
      type: [ScorerType],
      description: 'How answers are scored; at most 20.',
      resolve: ({ scorers }) => [...scorers],
    }),
    repeats: t.exposeInt('repeats', { description: 'How often each case is asked.' }),
    tokensMax: t.expose('tokensMax', { type: 'Count', description: 'Tokens that it may use, those of judges included.' }),
    costMax: t.exposeFloat('costMax', { nullable: true, description: 'What it may cost; null: no bound.' }),
    seed: t.exposeInt('seed', { description: 'Of the bootstrap: the same seed gives the same intervals.' }),
    plannedCount: t.exposeInt('plannedCount', { description: 'Answers that it asks for.' }),
    doneCount: t.exposeInt('doneCount', { description: 'Answers that it has.' }),
    failedCount: t.exposeInt('failedCount', { description: 'Questions without an answer.' }),
    interruptedCount: t.exposeInt('interruptedCount', {
      description:
        'Questions that were under way when a process died or a budget ended. They are not asked twice unless somebody resumes the experiment.',
    }),
    tokens: t.expose('tokens', { type: 'Count', description: 'Tokens that it has used.' }),
    cost: t.exposeFloat('cost', { description: 'What it has cost, as far as that is known.' }),
    summary: t.expose('summary', { type: SummaryType, nullable: true, description: 'What it found; null until it ends.' }),
  }),
});

const ExperimentConnection = makeConnection(ExperimentType, 'Experiment', 'Experiments');

const ReportType = builder.objectRef<Report>('ExperimentReport').implement({
  access: { scope: 'CHATS:READ' },
  description: 'What an experiment found, as a file.',
  fields: (t) => ({
    filename: t.exposeString('filename', { description: 'A name for the file.' }),
    contentType: t.exposeString('contentType', { description: 'Its media type.' }),
    content: t.string({ description: 'Its content.', resolve: (file) => file.content() }),
  }),
});

const id = { description: 'The id of the experiment.' };

builder.queryFields((t) => ({
  experiment: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: ExperimentType,
    nullable: true,
    description: 'One experiment with an agent that the caller may edit; null when there is none.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => getExperiment(deps, caller, args.id),
  }),
  experiments: t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: ExperimentConnection,
    description: 'The experiments with an agent that the caller may edit, newest first.',
    args: { agentId: t.arg.id({ description: 'The id of the agent.' }), ...pageArgs(t.arg) },
    resolve: (_root, args, context) => listExperiments(context.deps, context.caller, args.agentId, pageRequest(context, args)),
  }),
  experimentReport: t.field({
    authScopes: { key: 'CHATS:READ' },
    type: ReportType,
    description: 'What an experiment found, as a file.',
    args: { id: t.arg.id(id), format: t.arg({ type: ReportFormatType, description: 'How it is written.' }) },
    resolve: (_root, args, { deps, caller }) => exportExperiment(deps, caller, args.id, args.format),
  }),
}));

const ExperimentInputType = builder.inputType('ExperimentInput', {
  description: 'What to ask whom, and with which budget.',
  fields: (t) => ({
    versions: t.stringList({
      description: '`draft`, `published`, or numbers of versions, 1 to 4; the first is what the others are compared with.',
    }),
    models: t.stringList({
      required: false,
      description: "Models in place of the agent's, at most 4: each version is asked with each. Default: the agent's.",
    }),
    datasetId: t.id({ description: 'A dataset of the agent. Its drafts are left out.' }),
    revision: t.int({ required: false, description: 'A revision of the dataset. Default: the newest.' }),
    scorers: t.field({
      type: [ScorerInputType],
      required: false,
      description: 'How answers are scored, at most 20. Default: CONTAINS, CITES, REFUSES and TOOL_CALLS.',
    }),
    repeats: t.int({ required: false, description: 'How often each case is asked, 1 to 5. Default: 1.' }),
    tokensMax: t.field({
      type: 'Count',
      description: 'Tokens that it may use, those of judges included; at least 1. It never uses more.',
    }),
    costMax: t.float({
      required: false,
      description:
        'What it may cost, in the currency of the models file, above 0. All its models need prices. Default: no bound.',
    }),
    seed: t.int({ required: false, description: 'Of the bootstrap. Default: another one each time.' }),
  }),
});

builder.mutationFields((t) => ({
  runExperiment: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ExperimentType,
    description:
      'Begins to ask versions of an agent the cases of a dataset: each with the messages before it, in a run that is not stored and is charged to the caller. Tools that only read are called; others give what the run of the case recorded, unless the dataset says otherwise. An organization has at most three under way. `experimentUpdated` tells how far it is.',
    args: {
      agentId: t.arg.id({ description: 'The id of the agent.' }),
      input: t.arg({ type: ExperimentInputType, description: 'The experiment.' }),
    },
    resolve: (_root, { agentId, input }, { deps, caller }) => runExperiment(deps, caller, agentId, input),
  }),
  cancelExperiment: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ExperimentType,
    description: 'Ends an experiment that is under way. What it has asked stays, and is compared.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, { deps, caller }) => cancelExperiment(deps, caller, args.id),
  }),
  resumeExperiment: t.field({
    authScopes: { key: 'AGENTS:WRITE' },
    type: ExperimentType,
    description:
      'Goes on with an experiment that was cancelled, stopped or interrupted: asks what was not asked, and what was under way when a process died or a budget ended.',
    args: {
      id: t.arg.id(id),
      tokensMax: t.arg({ type: 'Count', required: false, description: 'A new budget, in all. Default: the one before.' }),
      costMax: t.arg.float({
        required: false,
        description:
          'What it may cost from now on, in all, in the currency of the models file. All its models need prices. Default: as before.',
      }),
    },
    resolve: (_root, { id: experimentId, ...budget }, { deps, caller }) => resumeExperiment(deps, caller, experimentId, budget),
  }),
}));

builder.subscriptionField('experimentUpdated', (t) =>
  t.field({
    authScopes: { key: 'AGENTS:READ' },
    type: ExperimentType,
    description:
      'The experiment at once and after its changes, at most five times a second. Ends when it has ended and its summary is there, and when the caller may not see it any more.',
    args: { id: t.arg.id(id) },
    subscribe: (_root, args, { deps, caller, signal }) => watchExperiment(deps, caller, args.id, signal),
    resolve: (experiment) => experiment,
  }),
);
