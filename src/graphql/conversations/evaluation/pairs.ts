import { type ExperimentCase, listPairs } from '../../../domain/conversations/evaluation/pairs.ts';
import {
  type ExperimentResult,
  type ResultState,
  resultStates,
  type ScoredAnswer,
} from '../../../entities/conversations/evaluation/experiment.ts';
import { builder } from '../../ground/builder/builder.ts';
import { makeConnection, pageArgs, pageRequest } from '../../ground/pagination.ts';
import { createEnum } from '../../ground/types/enums.ts';
import { PairVerdictType, ScoreType } from './scorers.ts';

const ResultStateType = createEnum('ExperimentResultState', 'What became of a question.', resultStates, {
  PENDING: 'It was not asked yet.',
  ASKED: 'It is being asked.',
  DONE: 'It was answered.',
  FAILED: 'There is no answer; `error` says why.',
  INTERRUPTED:
    'The process died while it was asked, or a budget ended between two calls of the model: it is asked anew when somebody resumes the experiment.',
} satisfies Record<ResultState, string>);

const pairVerdicts = ['BETTER', 'SAME', 'WORSE'] as const;
const PairVerdictChoiceType = createEnum(
  'ExperimentPairVerdict',
  'How an answer differs from that of the first variant.',
  pairVerdicts,
  {
    BETTER: 'Its scores are higher.',
    SAME: 'Its scores are the same.',
    WORSE: 'Its scores are lower.',
  },
);

const access = { scope: 'CHATS:READ' } as const;

const CitationType = builder.objectRef<ScoredAnswer['citations'][number]>('ExperimentCitation').implement({
  access,
  description: 'A document that an answer cites.',
  fields: (t) => ({
    knowledgeItemId: t.exposeID('itemId', {
      nullable: true,
      description: 'Its id; empty for a page of the web, null for a key that may not read sources.',
    }),
    name: t.exposeString('name', { description: 'Its name.' }),
  }),
});

const CallType = builder.objectRef<ScoredAnswer['calls'][number]>('ExperimentCall').implement({
  access,
  description: 'A call of a tool.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the tool.' }),
    arguments: t.exposeString('arguments', { description: 'Its arguments, as JSON text.' }),
  }),
});

const ResultType = builder.objectRef<ExperimentResult>('ExperimentResult').implement({
  access,
  description: 'What became of one case with one variant, once.',
  fields: (t) => ({
    variant: t.exposeInt('variant', { description: 'The place of the variant, from 0.' }),
    repeat: t.exposeInt('repeat', { description: 'Which time it was asked, from 0.' }),
    state: t.expose('state', { type: ResultStateType, description: 'What became of it.' }),
    answer: t.exposeString('answer', { nullable: true, description: 'The answer; null for none.' }),
    citations: t.field({ type: [CitationType], description: 'What it cites.', resolve: ({ citations }) => [...citations] }),
    calls: t.field({ type: [CallType], description: 'The calls that were made.', resolve: ({ calls }) => [...calls] }),
    scores: t.field({ type: [ScoreType], description: 'What the scorers say.', resolve: ({ scores }) => [...scores] }),
    passed: t.exposeBoolean('passed', { nullable: true, description: 'Whether all scores pass; null: it was not scored.' }),
    value: t.exposeFloat('value', { nullable: true, description: 'The mean of the scores, 0 to 1; null: it was not scored.' }),
    tokens: t.exposeInt('tokens', { description: 'What it took.' }),
    cost: t.exposeFloat('cost', { nullable: true, description: 'What it cost; null where that is not known.' }),
    durationMs: t.exposeInt('durationMs', { nullable: true, description: 'How long it took.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there is no answer.' }),
    pair: t.expose('pair', {
      type: PairVerdictType,
      nullable: true,
      description: 'How a judge likes it beside the answer of the first variant; null where none was asked.',
    }),
  }),
});

const PairType = builder.objectRef<ExperimentCase>('ExperimentPair').implement({
  access,
  description: 'A case of an experiment with the answers of all variants.',
  fields: (t) => ({
    caseId: t.exposeID('caseId', { description: 'The id of the case.' }),
    question: t.exposeString('question', { description: 'What was asked.' }),
    tags: t.stringList({ description: 'The labels of the case.', resolve: ({ tags }) => [...tags] }),
    expected: t.string({
      nullable: true,
      description: 'A good answer; null for none.',
      resolve: ({ content }) => content.expected,
    }),
    mustContain: t.stringList({
      description: 'Facts that must stand in the answer.',
      resolve: ({ content }) => [...content.mustContain],
    }),
    verdict: t.expose('verdict', {
      type: PairVerdictChoiceType,
      nullable: true,
      description: 'How the variant differs from the first; null without two scored answers.',
    }),
    results: t.field({
      type: [ResultType],
      description: 'The answers, by variant and repeat; at most 80.',
      resolve: ({ results }) => [...results],
    }),
  }),
});

const PairConnection = makeConnection(PairType, 'ExperimentPair', 'ExperimentPairs');

builder.queryField('experimentPairs', (t) =>
  t.field({
    authScopes: { key: 'CHATS:READ' },
    type: PairConnection,
    description: 'The cases of an experiment with the answers of all variants, to be read forwards.',
    args: {
      experimentId: t.arg.id({ description: 'The id of the experiment.' }),
      variant: t.arg.int({ required: false, description: 'Which variant is compared with the first. Default: 1, the second.' }),
      verdict: t.arg({ type: PairVerdictChoiceType, required: false, description: 'Only cases that differ so. Default: all.' }),
      ...pageArgs(t.arg),
    },
    resolve: (_root, args, context) =>
      listPairs(context.deps, context.caller, args.experimentId, args, pageRequest(context, args, ['text'])),
  }),
);
