import { judgePairPrompt, judgePrompt } from '../../../engine/models/prompts/judge.ts';
import {
  type PairChoice,
  type PairVerdict,
  pairChoices,
  type Score,
  type Scorer,
  type ScorerKind,
  scorerKinds,
} from '../../../entities/conversations/evaluation/experiment.ts';
import { builder } from '../../ground/builder/builder.ts';
import { createEnum } from '../../ground/types/enums.ts';

const ScorerKindType = createEnum(
  'ScorerKind',
  'How an answer is scored. Where a case does not say what a scorer asks for, it says nothing.',
  scorerKinds,
  {
    EQUALS: 'It is the expected answer, in any case and white space.',
    CONTAINS: '`mustContain` stands in it, and `mustNotContain` does not.',
    MATCHES: 'A regular expression of RE2 matches it: `pattern`.',
    JSON_SCHEMA: 'It is JSON that fits a schema: `schema`.',
    NUMBERS: 'The numbers of the expected answer stand in it: `tolerance`.',
    CITES: 'It cites all documents of `mustCite`.',
    CITES_NO_OTHER: 'It cites no document besides those of `mustCite`.',
    REFUSES: 'It says that it cannot answer, or does not, as `mustRefuse` wants it.',
    TOOL_CALLS: 'The calls of `mustCall` were made, and those of `mustNotCall` were not.',
    LATENCY: 'It took at most `max` milliseconds.',
    TOKENS: 'It took at most `max` tokens.',
    COST: 'It cost at most `max`; nothing is said of a model without a price.',
    JUDGE: 'A model says whether it passes: `modelId`, `rubric`.',
    JUDGE_PAIR:
      'A model says which of two answers is better, asked in both orders: `modelId`, `rubric`. It does not count for the rates.',
  } satisfies Record<ScorerKind, string>,
);

const PairChoiceType = createEnum('PairChoice', 'Which of two answers a judge likes better.', pairChoices, {
  FIRST: 'That of the first variant.',
  SECOND: 'The other one.',
  TIE: 'Neither.',
  UNSTEADY: 'The one that stands in one place, whichever it is: it is nothing to go by.',
} satisfies Record<PairChoice, string>);

const access = { scope: 'CHATS:READ' } as const;

const prompts: Readonly<Partial<Record<ScorerKind, string>>> = { JUDGE: judgePrompt, JUDGE_PAIR: judgePairPrompt };

export const ScorerType = builder.objectRef<Scorer>('Scorer').implement({
  access: { scope: 'AGENTS:READ' },
  description: 'How answers of an experiment are scored.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ScorerKindType, description: 'How.' }),
    pattern: t.exposeString('pattern', { nullable: true, description: 'Of MATCHES.' }),
    schema: t.string({
      nullable: true,
      description: 'Of JSON_SCHEMA, as JSON text.',
      resolve: ({ schema }) => (schema === null ? null : JSON.stringify(schema)),
    }),
    tolerance: t.exposeFloat('tolerance', { nullable: true, description: 'Of NUMBERS: the share by which a number may differ.' }),
    max: t.exposeFloat('max', { nullable: true, description: 'Of LATENCY, TOKENS and COST.' }),
    modelId: t.exposeString('modelId', { nullable: true, description: 'Of judges: the model that judges.' }),
    rubric: t.exposeString('rubric', { nullable: true, description: 'Of judges: what is weighed in every case.' }),
    prompt: t.string({
      nullable: true,
      description: 'Of judges: what the model is told before the question, the rubric and the answer.',
      resolve: ({ kind }) => prompts[kind] ?? null,
    }),
  }),
});

export const ScoreType = builder.objectRef<Score>('Score').implement({
  access,
  description: 'What a scorer says of one answer.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ScorerKindType, description: 'The scorer.' }),
    passed: t.exposeBoolean('passed', { nullable: true, description: 'Whether it passes; null: see `error`.' }),
    value: t.exposeFloat('value', { nullable: true, description: 'From 0 to 1; null with an error.' }),
    note: t.exposeString('note', { description: 'Why; empty for nothing to add.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why the scorer could not say. That is never a pass.' }),
  }),
});

export const PairVerdictType = builder.objectRef<PairVerdict>('PairVerdict').implement({
  access,
  description: 'What a judge says of two answers to one question.',
  fields: (t) => ({
    choice: t.expose('choice', { type: PairChoiceType, nullable: true, description: 'Which is better; null: see `error`.' }),
    reason: t.exposeString('reason', { description: 'Why, in the words of the judge.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why the judge could not say.' }),
  }),
});

export const ScorerInputType = builder.inputType('ScorerInput', {
  description: 'How answers are scored. A setting that has no effect on the kind is refused.',
  fields: (t) => ({
    kind: t.field({ type: ScorerKindType, description: 'How.' }),
    pattern: t.string({
      required: false,
      description: 'Of MATCHES: a regular expression of at most 500 characters that RE2 can run.',
    }),
    schema: t.string({ required: false, description: 'Of JSON_SCHEMA: the text of a JSON Schema.' }),
    tolerance: t.float({
      required: false,
      description: 'Of NUMBERS: the share by which a number may differ, 0 to 1. Default: 0.',
    }),
    max: t.float({
      required: false,
      description: 'Of LATENCY in milliseconds, of TOKENS, and of COST in the currency of the models file.',
    }),
    modelId: t.string({ required: false, description: 'Of judges: the model that judges.' }),
    rubric: t.string({
      required: false,
      description: 'Of judges: what is weighed in every case, besides the rubric of the case; at most 4,000 characters.',
    }),
  }),
});
