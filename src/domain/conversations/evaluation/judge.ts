import type { ModelMessage, ResponseFormat } from '../../../engine/models/port.ts';
import { judgeFormat, judgeMessages, judgePairFormat, judgePairMessages } from '../../../engine/models/prompts/judge.ts';
import { finishedRun } from '../../../engine/runs/events/fold.ts';
import { createSchemaCheck } from '../../../engine/tools/json-schema/check.ts';
import type { TokenAllowance } from '../../../engine/usage/token-allowance.ts';
import type { CaseContent } from '../../../entities/conversations/evaluation/dataset.ts';
import type { PairVerdict, Score, Scorer } from '../../../entities/conversations/evaluation/experiment.ts';
import { readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { isObject, parseJson } from '../../../lib/json/json.ts';
import { cutText, storableText } from '../../../lib/text/text.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { costOf } from './ask.ts';

export interface JudgeTerms {
  readonly caller: Caller;
  readonly agentId: string;
  readonly allowance: TokenAllowance;
}

/** What judging took. */
export interface JudgeSpending {
  readonly tokens: number;
  readonly cost: number;
}

const tokensMax = 1_000;
const reasonMax = 1_000;
const noForm = 'The judge did not answer with the JSON that it was asked for';

export type JudgedPair =
  | { readonly pair: PairVerdict; readonly refusal?: never; readonly spent: JudgeSpending }
  | { readonly pair?: never; readonly refusal: DomainError; readonly spent: JudgeSpending };

/** Whether an answer passes, as a model says. @returns undefined where nothing says what is weighed. */
export async function judgeAnswer(
  deps: Deps,
  terms: JudgeTerms,
  { modelId, rubric }: Scorer,
  content: CaseContent,
  answer: string,
  signal: AbortSignal,
): Promise<{ readonly score: Score; readonly spent: JudgeSpending } | undefined> {
  const weighed = joinRubrics(rubric, content);
  if (weighed === undefined || modelId === null) return undefined;
  const messages = judgeMessages({ question: content.question, answer, expected: content.expected, rubric: weighed });
  const { value, error, spent } = await ask(deps, terms, modelId, { messages, format: judgeFormat }, signal);
  if (error !== null) return { score: { kind: 'JUDGE', passed: null, value: null, note: '', error }, spent };
  const passed = value.verdict === 'pass';
  return { score: { kind: 'JUDGE', passed, value: passed ? 1 : 0, note: readReason(value), error: null }, spent };
}

/**
 * Which of two answers is better. The judge is asked twice, with the answers in both orders: one that goes by the place is unsteady.
 *
 * @returns no pair, but a refusal, when a budget ends before both orders are asked; what the first one took is spent.
 */
export async function judgePair(
  deps: Deps,
  terms: JudgeTerms,
  { modelId, rubric }: Scorer,
  { content, first, second }: { readonly content: CaseContent; readonly first: string; readonly second: string },
  signal: AbortSignal,
): Promise<JudgedPair> {
  const { question, expected } = content;
  const judged = { question, expected, rubric: joinRubrics(rubric, content) ?? 'It answers the question.' };
  const orders = [judgePairMessages(judged, first, second), judgePairMessages(judged, second, first)];
  const answers: Judgement[] = [];
  for (const messages of orders) {
    try {
      answers.push(await ask(deps, terms, modelId ?? '', { messages, format: judgePairFormat }, signal));
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return { refusal: error, spent: sumSpendings(answers.map(({ spent }) => spent)) };
    }
  }
  const spent = sumSpendings(answers.map((one) => one.spent));
  const error = answers.find((one) => one.error !== null)?.error ?? null;
  if (error !== null) return { pair: { choice: null, reason: '', error }, spent };
  const [straight, swapped] = answers.map(({ value }) => value.better);
  const choice = toChoice(straight, swapped);
  return { pair: { choice, reason: readReason(answers[0]?.value ?? {}), error: null }, spent };
}

/** What several questions took together. */
export function sumSpendings(spendings: readonly JudgeSpending[]): JudgeSpending {
  return {
    tokens: spendings.reduce((sum, { tokens }) => sum + tokens, 0),
    cost: spendings.reduce((sum, { cost }) => sum + cost, 0),
  };
}

function toChoice(straight: unknown, swapped: unknown): PairVerdict['choice'] {
  if (straight === 'neither' && swapped === 'neither') return 'TIE';
  if (straight === 'one' && swapped === 'two') return 'FIRST';
  if (straight === 'two' && swapped === 'one') return 'SECOND';
  return 'UNSTEADY';
}

/** Whether a judge has something to weigh in a case. */
export function isWeighed({ modelId, rubric }: Scorer, content: CaseContent): boolean {
  return modelId !== null && joinRubrics(rubric, content) !== undefined;
}

function joinRubrics(rubric: string | null, { rubric: ofCase, expected }: CaseContent): string | undefined {
  const rubrics = [rubric, ofCase].filter((one) => one !== null && one.trim() !== '');
  if (rubrics.length > 0) return rubrics.join('\n');
  return expected === null ? undefined : 'It says what the expected answer says.';
}

function readReason(value: Readonly<Record<string, unknown>>): string {
  return cutText(storableText(String(value.reason ?? '')), reasonMax);
}

interface Question {
  readonly messages: readonly ModelMessage[];
  readonly format: Extract<ResponseFormat, { readonly type: 'json_schema' }>;
}
interface Judgement {
  readonly value: Readonly<Record<string, unknown>>;
  readonly error: string | null;
  readonly spent: JudgeSpending;
}

/** An answer in another form is an error, and so is none. @throws DomainError INSUFFICIENT_QUOTA; the reason of the signal. */
async function ask(
  deps: Deps,
  { caller, agentId, allowance }: JudgeTerms,
  modelId: string,
  { messages, format }: Question,
  signal: AbortSignal,
): Promise<Judgement> {
  try {
    const run = await finishedRun(
      deps.runs.runStateless(
        {
          ...{ modelId, messages, tools: [], parameters: { maxTokens: tokensMax, temperature: 0 }, responseFormat: format },
          ...{ isStreaming: false, generateCitations: false, hidesSteps: true },
          charge: chargeTo(caller, { agentId, runId: deps.newId('completion') }),
        },
        signal,
        {},
        allowance,
      ),
    );
    const value = parseJson(readAnswerText(run.output));
    const { usage } = run;
    const tokens = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
    const spent = { tokens, cost: usage === null ? 0 : (costOf(deps, modelId, usage) ?? 0) };
    const isInForm = isObject(value) && createSchemaCheck(format.schema)(value) === undefined;
    return isInForm ? { value, error: null, spent } : { value: {}, error: noForm, spent };
  } catch (error) {
    if (!(error instanceof DomainError) || error.code === 'INSUFFICIENT_QUOTA') throw error;
    return { value: {}, error: `The judge did not answer: ${error.message}`, spent: { tokens: 0, cost: 0 } };
  }
}
