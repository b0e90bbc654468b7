import { setTimeout as wait } from 'node:timers/promises';
import { scoreAnswer } from '../../../engine/evaluation/score.ts';
import { summarize } from '../../../engine/evaluation/summarize.ts';
import { shutdownMessage } from '../../../engine/runs/control/stop.ts';
import { TokenAllowance } from '../../../engine/usage/token-allowance.ts';
import type { Experiment, Score, ScoredAnswer } from '../../../entities/conversations/evaluation/experiment.ts';
import { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import type { ClaimedQuestion, NewResult } from '../../../storage/conversations/evaluation/experiments.ts';
import type { Deps } from '../../deps.ts';
import { watchRights } from '../../people/api-keys.ts';
import { findPerson } from '../schedules/rights.ts';
import { type AskTerms, askCase } from './ask.ts';
import { type CostBound, createBound } from './cost-bound.ts';
import { isWeighed, type JudgeSpending, judgeAnswer, judgePair, sumSpendings } from './judge.ts';
import { QuestionExchange } from './question-exchange.ts';
import { DraftChangedError } from './variants.ts';

/** Questions of one experiment that one process asks at one time; one, now and then, while people's runs are at work. */
const askedAtOnce = 4;
const peopleWaitMs = 50;
/** While people's runs are at work, and so long after, one question is asked in this time. */
const breathMs = 250;
const refusedWaitMs = 1_000;
/** A run that finds no place is tried again so often. */
const refusalsMax = 60;
const expireEveryMs = 3_600_000;
const abandonedMs = 86_400_000;
const answerMax = 100_000;

/** Registers the job that asks, and the end of experiments whose jobs gave up. */
export function registerExperiments(deps: Deps): void {
  // A process that dies leaves its job to the next one, which goes on with what nobody has claimed.
  deps.jobs.work('evaluation.run-experiment', { concurrency: 1 }, ({ experimentId }, signal) =>
    workOn(deps, experimentId, signal),
  );
  deps.jobs.lead('evaluation.expire', expireEveryMs, () => endAbandoned(deps));
}

async function workOn(deps: Deps, id: string, signal: AbortSignal): Promise<void> {
  const { experiments, datasets } = deps.storage.conversations;
  const experiment = await experiments.begin(id, deps.now());
  if (experiment === undefined) return summarizeResults(deps, id);
  const { fence } = experiment;
  const person = await findPerson(deps, experiment);
  const dataset = await datasets.find(experiment.datasetId);
  if ('reason' in person || dataset === undefined) {
    const error = 'reason' in person ? person.reason : 'The dataset is gone';
    await experiments.end(id, ['RUNNING'], { status: 'FAILED', endedAt: deps.now(), error }, fence);
    return;
  }
  const allowance = new TokenAllowance(experiment.tokensMax, undefined, experiment.tokens);
  const terms = { caller: person.caller, agentId: experiment.agentId, callsTools: dataset.callsTools, allowance };
  const work = new ExperimentWork(deps, experiment, terms, signal);
  await work.run();
  if (signal.aborted) {
    // Another process goes on, or has ended it without the last answers of this one.
    await summarizeResults(deps, id);
    throw signal.reason;
  }
  const { stopReason } = work;
  const changes = {
    status: stopReason === undefined ? 'DONE' : 'STOPPED',
    endedAt: deps.now(),
    error: stopReason ?? null,
  } as const;
  await experiments.end(id, ['RUNNING'], changes, fence);
  await summarizeResults(deps, id);
}

/** Of an experiment that has ended. One that another process works on is left to that process. */
async function summarizeResults(deps: Deps, id: string): Promise<void> {
  const { experiments } = deps.storage.conversations;
  for (;;) {
    const experiment = await experiments.find(id);
    if (experiment === undefined || experiment.endedAt === null) return;
    const summary = await summarize(await experiments.figures(id), experiment.variants.length, experiment.seed);
    // An answer that came meanwhile, of a process whose place another one took, counts too.
    if (await experiments.setSummary(experiment, summary)) return;
  }
}

async function endAbandoned(deps: Deps): Promise<void> {
  const { experiments } = deps.storage.conversations;
  for (const id of await experiments.abandoned(new Date(deps.now().getTime() - abandonedMs), 100)) {
    const error = 'The experiment could not be finished, because of a fault of the service. Resume it: nothing is asked twice.';
    await experiments.end(id, ['WAITING', 'RUNNING'], { status: 'FAILED', endedAt: deps.now(), error });
  }
}

/** One process at work on one experiment. */
class ExperimentWork {
  readonly #deps: Deps;
  readonly #experiment: Experiment & { readonly fence: number };
  #terms: AskTerms;
  readonly #signal: AbortSignal;
  readonly #exchange: QuestionExchange;
  #bound: CostBound | undefined;
  #askedCount = 0;
  #lastBusyMs = Number.NEGATIVE_INFINITY;
  #isPostponed = false;
  #isPersonCurrent = false;
  #stopWatching: () => void = () => undefined;
  /** Why nothing more is asked; undefined while nothing stops it. */
  stopReason: string | undefined;

  constructor(deps: Deps, experiment: Experiment & { readonly fence: number }, terms: AskTerms, signal: AbortSignal) {
    this.#deps = deps;
    this.#experiment = experiment;
    this.#terms = terms;
    this.#signal = signal;
    const { experiments } = deps.storage.conversations;
    const { id, fence } = experiment;
    this.#exchange = new QuestionExchange({
      send: (answers, count) => experiments.exchange(id, fence, answers, count),
      isAsking: () => this.#askedCount > 0,
    });
  }

  async run(): Promise<void> {
    try {
      this.#bound = await createBound(this.#deps, this.#terms.caller, this.#terms.allowance, this.#experiment);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.stopReason = error.message;
      return;
    }
    this.#watchPerson(this.#terms.caller);
    try {
      await this.#askAll();
    } finally {
      this.#stopWatching();
    }
  }

  async #askAll(): Promise<void> {
    await this.#judgeRest();
    try {
      await Promise.all(Array.from({ length: askedAtOnce }, (_, place) => this.#askInTurns(place)));
      // What the answers under way did not need may reach for more, one at a time.
      if (this.#isPostponed && !this.#isOver) await this.#askInTurns(0);
    } finally {
      await this.#exchange.close();
    }
    if (this.#experiment.scorers.some(({ kind }) => kind === 'JUDGE_PAIR')) await this.#comparePairs();
  }

  async #askInTurns(place: number): Promise<void> {
    const { experiments } = this.#deps.storage.conversations;
    const { id, fence } = this.#experiment;
    while (await this.#mayGoOn(place)) {
      const question = await this.#exchange.next();
      if (question === undefined) return;
      this.#askedCount += 1;
      try {
        const result = await this.#ask(question);
        // Nobody knows whether the model was asked: the next process says so.
        if (result === 'left') return;
        if (result === 'postponed') {
          await experiments.release(id, question, fence);
          return;
        }
        if (result === 'refused') await experiments.release(id, question, fence);
        else {
          const { tokens, cost, judgeTokens, judgeCost } = result;
          this.#bound?.note({ tokens: tokens + judgeTokens, cost: (cost ?? 0) + judgeCost });
          this.#exchange.finish({ question, result });
        }
      } finally {
        this.#askedCount -= 1;
      }
    }
  }

  /** Waits while people's runs are at work, so that they do not wait: beside them one question is asked at a time, and few of them. */
  async #mayGoOn(place: number): Promise<boolean> {
    const waitMax = place > 0 ? Number.POSITIVE_INFINITY : breathMs;
    for (let waitedMs = 0; waitedMs < waitMax && !this.#isOver && this.#isPeopleAtWork(); waitedMs += peopleWaitMs)
      await wait(peopleWaitMs);
    await this.#checkPerson();
    return !this.#isOver;
  }

  /** The person may leave, or get another role, while the experiment goes on: it has the rights that the person has now. */
  async #checkPerson(): Promise<void> {
    if (this.#isOver || this.#isPersonCurrent) return;
    const person = await findPerson(this.#deps, this.#experiment);
    if ('reason' in person) this.stopReason ??= person.reason;
    else this.#watchPerson(person.caller);
  }

  #watchPerson(caller: Caller): void {
    this.#stopWatching();
    this.#stopWatching = watchRights(this.#deps, caller, () => {
      this.#isPersonCurrent = false;
    });
    this.#isPersonCurrent = true;
    this.#terms = { ...this.#terms, caller };
  }

  /** Whether people's runs are at work in this process, or were just now: whoever had an answer asks the next question soon. */
  #isPeopleAtWork(): boolean {
    const nowMs = performance.now();
    if (this.#deps.pools.countOf('active-runs') > this.#askedCount) this.#lastBusyMs = nowMs;
    return nowMs - this.#lastBusyMs < breathMs;
  }

  get #isOver(): boolean {
    return this.#signal.aborted || this.stopReason !== undefined;
  }

  /** `refused`: it was not asked. `postponed`: nor was it, because answers under way hold the budget. `left`: the process ends while it is asked. */
  async #ask(question: ClaimedQuestion): Promise<NewResult | 'refused' | 'postponed' | 'left'> {
    const variant = this.#experiment.variants[question.variant];
    if (variant === undefined) throw new Error('a result has no variant');
    for (let refusals = 0; ; refusals += 1) {
      try {
        const { answer, failure } = await askCase(this.#deps, this.#terms, variant, question.content, runsUntilShutdown());
        if (failure?.message === shutdownMessage) return 'left';
        this.#noteFailure(failure);
        return failure === undefined ? await this.#score(question, answer) : toFailed(failure, answer);
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        if (error instanceof DraftChangedError || gone.has(error.code)) {
          this.stopReason ??= error.message;
          return 'refused';
        }
        if (error.message === shutdownMessage) return 'left';
        if (error.code === 'INSUFFICIENT_QUOTA' && this.#terms.allowance.hasRefused && this.#askedCount > 1) {
          this.#isPostponed = true;
          return 'postponed';
        }
        this.#noteFailure(error);
        if (error.code === 'INSUFFICIENT_QUOTA') return 'refused';
        if (!passing.has(error.code) || refusals >= refusalsMax) return toFailed(error, undefined);
        if (this.#isOver) return 'refused';
        await wait(refusedWaitMs);
      }
    }
  }

  /** A quota ends the experiment, whether it is its own budget or a limit of the organization. */
  #noteFailure(failure: DomainError | undefined): void {
    if (failure?.code !== 'INSUFFICIENT_QUOTA') return;
    const { allowance } = this.#terms;
    const { tokensMax, costMax } = this.#experiment;
    const budget = this.#bound?.isTighter === true ? `${costMax}` : `${tokensMax} tokens`;
    this.stopReason ??= allowance.hasRefused ? `The budget of ${budget} does not reach for another answer` : failure.message;
  }

  async #score(question: ClaimedQuestion, answer: ScoredAnswer): Promise<NewResult> {
    const { scorers } = this.#experiment;
    const scores: Score[] = [];
    const spendings: JudgeSpending[] = [];
    for (const scorer of scorers) {
      if (scorer.kind !== 'JUDGE') {
        const score = scoreAnswer(scorer, question.content, answer);
        if (score !== undefined) scores.push(score);
        continue;
      }
      const judged = await this.#judge(scorer, question, answer.text);
      if (judged === undefined) continue;
      scores.push(judged.score);
      spendings.push(judged.spent);
    }
    const { tokens: judgeTokens, cost: judgeCost } = sumSpendings(spendings);
    const { tokens, cost, durationMs, citations, calls } = answer;
    return {
      ...{ state: 'DONE', answer: answer.text.slice(0, answerMax), citations, calls, scores, ...passIn(scores) },
      ...{ tokens, cost, durationMs, error: null, judgeTokens, judgeCost },
    };
  }

  /** A budget that ends before a judge is asked leaves the answer unscored. */
  async #judge(scorer: Experiment['scorers'][number], { content }: ClaimedQuestion, text: string) {
    try {
      return await judgeAnswer(this.#deps, this.#terms, scorer, content, text, runsUntilShutdown());
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.#noteFailure(error);
      const score: Score = { kind: scorer.kind, passed: null, value: null, note: '', error: error.message, isRefused: true };
      return { score, spent: { tokens: 0, cost: 0 } };
    }
  }

  /** Asks judges that the budget refused before somebody gave more, about answers that are there: no question is asked again. */
  async #judgeRest(): Promise<void> {
    const { experiments } = this.#deps.storage.conversations;
    const { id, fence, scorers } = this.#experiment;
    while (await this.#mayGoOn(0)) {
      const unjudged = await experiments.findUnjudged(id);
      if (unjudged === undefined) return;
      const scores = [...unjudged.scores];
      const spendings: JudgeSpending[] = [];
      // Scores stand in the order of the scorers.
      const judges = scorers.filter((scorer) => scorer.kind === 'JUDGE' && isWeighed(scorer, unjudged.content));
      const places = scores.flatMap(({ kind }, place) => (kind === 'JUDGE' ? [place] : []));
      for (const [index, place] of places.entries()) {
        const scorer = judges[index];
        if (scorer === undefined || scores[place]?.isRefused !== true) continue;
        const judged = await this.#judge(scorer, unjudged, unjudged.answer);
        if (judged === undefined) continue;
        scores[place] = judged.score;
        spendings.push(judged.spent);
      }
      const spent = sumSpendings(spendings);
      this.#bound?.note(spent);
      const judgements = { judgeTokens: spent.tokens, judgeCost: spent.cost };
      await experiments.rescore(id, unjudged, fence, { scores, ...passIn(scores), ...judgements });
    }
  }

  async #comparePairs(): Promise<void> {
    const { experiments } = this.#deps.storage.conversations;
    const { id, fence, scorers } = this.#experiment;
    const scorer = scorers.find(({ kind }) => kind === 'JUDGE_PAIR');
    while (scorer !== undefined && (await this.#mayGoOn(0))) {
      const claimed = await experiments.claimPair(id, fence);
      if (claimed === undefined) return;
      const { pair, refusal, spent } = await judgePair(this.#deps, this.#terms, scorer, claimed, runsUntilShutdown());
      this.#bound?.note(spent);
      this.#noteFailure(refusal);
      await experiments.finishPair(id, claimed, pair, spent);
    }
  }
}

/** Refusals before anything was asked, which pass by themselves. */
const passing: ReadonlySet<string> = new Set(['OVERLOADED', 'RATE_LIMIT_EXCEEDED']);

/** The agent or a model is gone, for everybody or for the person: no other question would be answered. */
const gone: ReadonlySet<string> = new Set(['NOT_FOUND', 'MODEL_NOT_FOUND']);

/** The engine ends runs when the process stops: what was asked is not given up before. */
function runsUntilShutdown(): AbortSignal {
  return new AbortController().signal;
}

function toFailed({ code, message }: DomainError, answer: ScoredAnswer | undefined): NewResult {
  // A budget that ended between two calls of the model: the question is asked anew when somebody gives more.
  const state = code === 'INSUFFICIENT_QUOTA' ? 'INTERRUPTED' : 'FAILED';
  return {
    ...{
      state,
      answer: answer?.text.slice(0, answerMax) ?? null,
      citations: [],
      calls: answer?.calls ?? [],
      scores: [],
    },
    ...{ passed: null, value: null, tokens: answer?.tokens ?? 0, cost: answer?.cost ?? null },
    ...{ durationMs: answer?.durationMs ?? null, error: message.slice(0, 1_000), judgeTokens: 0, judgeCost: 0 },
  };
}

/** An answer passes when all scores pass. One that no scorer has anything to say of is not scored, and neither is one of which a scorer could not say. */
function passIn(scores: readonly Score[]): Pick<NewResult, 'passed' | 'value'> {
  const values = scores.flatMap(({ value }) => value ?? []);
  if (scores.length === 0 || values.length < scores.length) return { passed: null, value: null };
  return {
    passed: scores.every(({ passed }) => passed === true),
    value: values.reduce((sum, value) => sum + value, 0) / values.length,
  };
}
