// Raw SQL: answers are written with the counts of their experiment, and questions claimed, in one statement; pairs are compared in the database.
import type { CaseContent } from '../../../entities/conversations/evaluation/dataset.ts';
import type {
  CaseFigures,
  Experiment,
  ExperimentResult,
  ExperimentStatus,
  ExperimentSummary,
  PairVerdict,
  ResultState,
  Score,
  Scorer,
  Variant,
  Verdict,
} from '../../../entities/conversations/evaluation/experiment.ts';
import { type Page, type PageRequest, timeKey, toPage } from '../../../entities/ground/page.ts';
import { storableJson } from '../../../lib/text/text.ts';
import { Prisma } from '../../generated/client.ts';
import type { Database } from '../../ground/database.ts';
import { newestFirst, type Place, readPage } from '../../ground/lists/paging.ts';
import { lockRow } from '../../ground/sql/locks.ts';
import { PublishingStore } from '../../ground/store.ts';

export type NewExperiment = Pick<
  Experiment,
  | 'id'
  | 'createdAt'
  | 'orgId'
  | 'userId'
  | 'agentId'
  | 'datasetId'
  | 'revision'
  | 'variants'
  | 'scorers'
  | 'repeats'
  | 'tokensMax'
  | 'costMax'
  | 'seed'
>;

/** A question that is to be asked now, by nobody else. */
export interface ClaimedQuestion {
  readonly caseId: string;
  readonly variant: number;
  readonly repeat: number;
  readonly content: CaseContent;
}

/** The answer of a claimed question. */
export interface NewResult {
  /** INTERRUPTED: a budget ended while it was answered. */
  readonly state: 'DONE' | 'FAILED' | 'INTERRUPTED';
  readonly answer: string | null;
  readonly citations: ExperimentResult['citations'];
  readonly calls: ExperimentResult['calls'];
  readonly scores: readonly Score[];
  readonly passed: boolean | null;
  readonly value: number | null;
  /** Of the answer. */
  readonly tokens: number;
  readonly cost: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** Of judges: they count for the budget only. */
  readonly judgeTokens: number;
  readonly judgeCost: number;
}

export interface FinishedQuestion {
  readonly question: Pick<ClaimedQuestion, 'caseId' | 'variant' | 'repeat'>;
  readonly result: NewResult;
}

/** What judges say of an answer that is there. */
export type Rescore = Pick<NewResult, 'scores' | 'passed' | 'value' | 'judgeTokens' | 'judgeCost'>;

export interface UnjudgedAnswer extends ClaimedQuestion {
  readonly answer: string;
  readonly scores: readonly Score[];
}

const isUnjudged = `r.state = 'DONE' and r.scores @> '[{"isRefused": true}]'`;

/** Two answers that a judge compares. */
export interface ClaimedPair {
  readonly caseId: string;
  readonly variant: number;
  readonly repeat: number;
  readonly content: CaseContent;
  readonly first: string;
  readonly second: string;
}

const openMax = 3;
/** A question that is asked anew: nothing is left of its first answer, but what it cost stays in the sums of the experiment. */
const unanswered = { answer: null, details: Prisma.DbNull, tokens: 0, cost: null, durationMs: null, error: null };
const firstVariant = 0;

export class ExperimentStore extends PublishingStore {
  async find(id: string): Promise<Experiment | undefined> {
    const row = await this.db.prisma.experiment.findUnique({ where: { id } });
    return row === null ? undefined : toExperiment(row);
  }

  /** Newest first. */
  async list(agentId: string, page: PageRequest): Promise<Page<Experiment>> {
    const where = { agentId };
    const rows = await this.db.prisma.experiment.findMany(newestFirst(where, page));
    return toPage(rows.map(toExperiment), page, timeKey, (take) => this.db.prisma.experiment.count({ where, take }));
  }

  /** How many cases experiments ask of a revision: those that are no drafts. */
  countCases(datasetId: string, revision: number): Promise<number> {
    return this.db.prisma.datasetCase.count({
      where: {
        datasetId,
        isDraft: false,
        fromRevision: { lte: revision },
        OR: [{ toRevision: null }, { toRevision: { gt: revision } }],
      },
    });
  }

  /** Writes an experiment with a row for each answer. @returns false while the organization has as many under way as may be. */
  create(row: NewExperiment, comparesPairs: boolean): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'organizations', row.orgId);
      if ((await tx.prisma.experiment.count({ where: { orgId: row.orgId, endedAt: null } })) >= openMax) return false;
      const { variants, scorers, repeats, id, datasetId, revision } = row;
      const json = {
        variants: variants as unknown as Prisma.InputJsonArray,
        scorers: scorers as unknown as Prisma.InputJsonArray,
      };
      const data = { ...row, ...json, tokensMax: BigInt(row.tokensMax), status: 'WAITING', plannedCount: 0 };
      await tx.prisma.experiment.create({ data });
      const plannedCount = await tx.execute(
        `insert into experiment_results ("experimentId", "caseId", "caseRevision", variant, repeat, weight, "pairState")
         select $1, c.id, c."fromRevision", v, r, c.weight, case when $6 and v > 0 then 'PENDING' end
         from dataset_cases c, generate_series(0, $4::int - 1) v, generate_series(0, $5::int - 1) r
         where c."datasetId" = $2 and not c."isDraft" and c."fromRevision" <= $3 and (c."toRevision" is null or c."toRevision" > $3)`,
        [id, datasetId, revision, variants.length, repeats, comparesPairs],
      );
      await tx.prisma.experiment.update({ where: { id }, data: { plannedCount } });
      return true;
    });
  }

  /**
   * Begins or goes on with an experiment, for one process: others ask nothing from now on. What another process asked is INTERRUPTED, until that one
   * writes its answer after all.
   *
   * @returns undefined when it has ended.
   */
  async begin(id: string, at: Date): Promise<(Experiment & { readonly fence: number }) | undefined> {
    const row = await this.db.transaction(async (tx) => {
      await lockRow(tx, 'experiments', id);
      const before = await tx.prisma.experiment.findUnique({ where: { id } });
      if (before === null || before.endedAt !== null) return undefined;
      const where = { experimentId: id, state: 'ASKED' };
      const data = { state: 'INTERRUPTED', error: 'The service was stopped while this was asked' };
      const { count } = await tx.prisma.experimentResult.updateMany({ where, data });
      return tx.prisma.experiment.update({
        where: { id },
        data: {
          ...{ status: 'RUNNING', fence: { increment: 1 }, startedAt: before.startedAt ?? at },
          interruptedCount: { increment: count },
        },
      });
    });
    this.#announce(id);
    return row === undefined ? undefined : { ...toExperiment(row), fence: row.fence };
  }

  /**
   * Writes answers of claimed questions with the counts of their experiment, and claims the next questions, in one statement.
   *
   * An answer counts also when it comes after another process took the experiment. It is lost only when the question was asked again meanwhile, and written
   * once when it is given twice. `experiment` is locked first, as where another process takes it, so that nothing is claimed in the place of another process.
   * `materialized`: a plan may look for the next questions again for each row that it compares, and claim too many.
   *
   * @param count  0 to claim none.
   * @returns fewer than `count` when no more are left, and none when the experiment does not run any more.
   */
  async exchange(
    id: string,
    fence: number,
    answers: readonly FinishedQuestion[],
    count: number,
  ): Promise<readonly ClaimedQuestion[]> {
    const claimed = await this.db.query<ClaimedQuestion>(
      `with experiment as materialized (select id, status, fence from experiments where id = $1 for no key update),
       answered as materialized (
         select * from jsonb_to_recordset($3::jsonb) as a("caseId" text, variant int, repeat int, state text, answer text, details jsonb, scores jsonb,
           passed boolean, value float8, tokens int, cost float8, "durationMs" int, error text, "judgeTokens" int, "judgeCost" float8)),
       question as materialized (
         select answered.*, r.state as before from experiment cross join answered join experiment_results r
           on r."experimentId" = experiment.id and r."caseId" = answered."caseId" and r.variant = answered.variant and r.repeat = answered.repeat
         where r.fence = $2 and r.state not in ('DONE', 'FAILED') and r."durationMs" is null for update of r),
       written as (
         update experiment_results r set state = q.state, answer = q.answer, details = q.details, scores = q.scores, passed = q.passed, value = q.value,
           tokens = q.tokens, cost = q.cost, "durationMs" = q."durationMs", error = q.error
         from question q
         where r."experimentId" = $1 and r."caseId" = q."caseId" and r.variant = q.variant and r.repeat = q.repeat),
       counted as (
         update experiments e set "doneCount" = "doneCount" + sums.done, "failedCount" = "failedCount" + sums.failed, tokens = e.tokens + sums.tokens,
           cost = e.cost + sums.cost, "updatedAt" = now(), "interruptedCount" = "interruptedCount" + sums.interrupted
         from (select count(*) filter (where state = 'DONE') as done, count(*) filter (where state = 'FAILED') as failed,
             count(*) filter (where state = 'INTERRUPTED') - count(*) filter (where before = 'INTERRUPTED') as interrupted,
             sum(tokens + "judgeTokens") as tokens, sum(coalesce(cost, 0) + "judgeCost") as cost from question having count(*) > 0) sums
         where e.id = $1),
       next as materialized (
         select "caseId", variant, repeat from experiment_results
         where "experimentId" = $1 and state = 'PENDING' and exists (select from experiment where status = 'RUNNING' and fence = $2)
         order by "caseId", repeat, variant limit $4::int for update skip locked),
       claimed as (
         update experiment_results r set state = 'ASKED', fence = $2 from next, dataset_cases c
         where r."experimentId" = $1 and r."caseId" = next."caseId" and r.variant = next.variant and r.repeat = next.repeat
           and c.id = r."caseId" and c."fromRevision" = r."caseRevision"
         returning r."caseId", r.variant, r.repeat, c.content)
       select * from claimed order by "caseId", repeat, variant`,
      [id, fence, JSON.stringify(storableJson(answers.map(toRow))), count],
    );
    if (answers.length > 0) this.#announce(id);
    return claimed;
  }

  /** Gives a claimed question back that was not asked. */
  async release(id: string, { caseId, variant, repeat }: ClaimedQuestion, fence: number): Promise<void> {
    const where = { experimentId: id, caseId, variant, repeat, fence, state: 'ASKED' };
    await this.db.prisma.experimentResult.updateMany({ where, data: { state: 'PENDING' } });
  }

  /** An answer with a judge that a budget refused. @returns undefined when there is none. */
  async findUnjudged(id: string): Promise<UnjudgedAnswer | undefined> {
    const [found] = await this.db.query<UnjudgedAnswer>(
      `select r."caseId", r.variant, r.repeat, r.answer, r.scores, c.content
       from experiment_results r join dataset_cases c on c.id = r."caseId" and c."fromRevision" = r."caseRevision"
       where r."experimentId" = $1 and ${isUnjudged} order by r."caseId", r.repeat, r.variant limit 1`,
      [id],
    );
    return found;
  }

  /** Writes what judges said of an answer that is there, unless another process works on the experiment. */
  async rescore(id: string, { caseId, variant, repeat }: ClaimedQuestion, fence: number, result: Rescore): Promise<void> {
    const { scores, passed, value, judgeTokens, judgeCost } = result;
    await this.db.query(
      `with experiment as (
         update experiments set tokens = tokens + $9, cost = cost + $10, "updatedAt" = now() where id = $1 and fence = $5 returning id)
       update experiment_results r set scores = $6::jsonb, passed = $7, value = $8 from experiment
       where r."experimentId" = experiment.id and r."caseId" = $2 and r.variant = $3 and r.repeat = $4`,
      [id, caseId, variant, repeat, fence, JSON.stringify(scores), passed, value, judgeTokens, judgeCost],
    );
    this.#announce(id);
  }

  /** Claims two answers of a case that a judge has not compared. One process works on an experiment, so none is claimed twice. */
  async claimPair(id: string, fence: number): Promise<ClaimedPair | undefined> {
    const [claimed] = await this.db.query<ClaimedPair>(
      `update experiment_results r set "pairState" = 'ASKED'
       from (select o."caseId", o.variant, o.repeat, o."caseRevision", f.answer as first, o.answer as second
             from experiment_results o join experiment_results f on f."experimentId" = $1 and f."caseId" = o."caseId" and f.repeat = o.repeat
               and f.variant = ${firstVariant}
             where o."experimentId" = $1 and o."pairState" = 'PENDING' and o.state = 'DONE' and f.state = 'DONE'
             order by o."caseId", o.repeat, o.variant limit 1) next,
         dataset_cases c, experiments e
       where r."experimentId" = $1 and r."caseId" = next."caseId" and r.variant = next.variant and r.repeat = next.repeat
         and c.id = next."caseId" and c."fromRevision" = next."caseRevision" and e.id = $1 and e.status = 'RUNNING' and e.fence = $2
       returning r."caseId", r.variant, r.repeat, c.content, next.first, next.second`,
      [id, fence],
    );
    return claimed;
  }

  /** @param pair  undefined: they were not compared, and are claimed again. */
  async finishPair(
    id: string,
    { caseId, variant, repeat }: Pick<ClaimedPair, 'caseId' | 'variant' | 'repeat'>,
    pair: PairVerdict | undefined,
    { tokens, cost }: { readonly tokens: number; readonly cost: number },
  ): Promise<void> {
    const where = { experimentId: id, caseId, variant, repeat, pairState: 'ASKED' };
    const written =
      pair === undefined ? { pairState: 'PENDING' } : { pairState: 'DONE', pair: pair as unknown as Prisma.InputJsonObject };
    await this.db.prisma.experimentResult.updateMany({ where, data: written });
    const data = { tokens: { increment: tokens }, cost: { increment: cost } };
    await this.db.prisma.experiment.updateMany({ where: { id }, data });
    this.#announce(id);
  }

  /**
   * Ends it.
   *
   * @param from  only while it has one of these statuses.
   * @param fence  of the process that works on it; undefined: whoever does.
   */
  async end(
    id: string,
    from: readonly ExperimentStatus[],
    changes: { readonly status: ExperimentStatus; readonly endedAt: Date | null; readonly error?: string | null },
    fence?: number,
  ): Promise<boolean> {
    const where = { id, status: { in: [...from] }, ...(fence === undefined ? {} : { fence }) };
    const { count } = await this.db.prisma.experiment.updateMany({ where, data: changes });
    if (count > 0) this.#announce(id);
    return count > 0;
  }

  /** @returns false when answers came since it was read: the summary may lack them. */
  async setSummary({ id, doneCount, failedCount }: Experiment, summary: ExperimentSummary): Promise<boolean> {
    const { count } = await this.db.prisma.experiment.updateMany({
      where: { id, doneCount, failedCount },
      data: { summary: summary as unknown as Prisma.InputJsonObject },
    });
    this.#announce(id);
    return count > 0;
  }

  /** Lets an experiment that has ended ask what it has not asked, and what was interrupted. @returns false while it has not ended, or has nothing left. */
  resume(id: string, { tokensMax, costMax }: Pick<Experiment, 'tokensMax' | 'costMax'>): Promise<boolean> {
    return this.db.transaction(async (tx) => {
      await lockRow(tx, 'experiments', id);
      const before = await tx.prisma.experiment.findUnique({ where: { id } });
      if (before === null || before.endedAt === null) return false;
      const { count } = await tx.prisma.experimentResult.updateMany({
        where: { experimentId: id, state: 'INTERRUPTED' },
        data: { state: 'PENDING', ...unanswered },
      });
      const pairs = { experimentId: id, pairState: 'ASKED' };
      await tx.prisma.experimentResult.updateMany({ where: pairs, data: { pairState: 'PENDING' } });
      if (!(await hasRest(tx, id))) return false;
      await tx.prisma.experiment.update({
        where: { id },
        data: {
          ...{ status: 'WAITING', endedAt: null, error: null, interruptedCount: { decrement: count } },
          // The former one would stand beside DONE until the new one is there.
          summary: Prisma.DbNull,
          ...{ tokensMax: BigInt(tokensMax), costMax },
        },
      });
      return true;
    });
  }

  /** What the summary of an experiment is made of: one row for each case and variant. */
  figures(id: string): Promise<readonly CaseFigures[]> {
    return this.db.query<CaseFigures>(
      `select "caseId", variant, max(weight) as weight, count(*) filter (where passed is not null)::int as "scoredCount",
         count(*) filter (where passed)::int as "passedCount", coalesce(sum(value) filter (where passed is not null), 0) as "valueSum",
         count(*) filter (where state = 'FAILED')::int as "failedCount",
         count(*) filter (where state = 'DONE' and passed is null)::int as "unscoredCount",
         coalesce(sum(tokens), 0)::int as tokens, coalesce(sum(cost), 0) as cost, avg("durationMs")::float8 as "durationMs"
       from experiment_results where "experimentId" = $1 group by "caseId", variant`,
      [id],
    );
  }

  /**
   * Ids of cases of an experiment, in order: all, or those whose answers of a variant are better, the same or worse than those of the first.
   *
   * @param after  the id of the case before.
   * @returns the ids that fit a page, and how many were found.
   */
  async caseIds(
    id: string,
    { variant, verdict }: { readonly variant: number; readonly verdict: Exclude<Verdict, 'NOT_ENOUGH_CASES'> | undefined },
    after: string,
    limit: number,
  ): Promise<{ readonly ids: readonly string[]; readonly foundCount: number }> {
    const mean = (place: string) => `avg(value) filter (where passed is not null and variant = ${place})`;
    const sign = verdict === undefined ? '' : { BETTER: '>', SAME: '=', WORSE: '<' }[verdict];
    const having = verdict === undefined ? '' : `having ${mean('$4')} ${sign} ${mean(String(firstVariant))}`;
    const places = await this.db.query<Place>(
      `select "caseId" as id, sum("rowBytes")::int as "rowBytes" from experiment_results
       where "experimentId" = $1 and "caseId" > $2 group by "caseId" ${having} order by "caseId" limit $3`,
      verdict === undefined ? [id, after, limit] : [id, after, limit, variant],
    );
    const { rows, foundCount } = await readPage(this.db, places, async (ids) => ids.map((caseId) => ({ id: caseId })));
    return { ids: rows.map((row) => row.id), foundCount };
  }

  /** The results of some cases with their questions. */
  async results(
    id: string,
    caseIds: readonly string[],
  ): Promise<readonly (ExperimentResult & { readonly content: CaseContent; readonly tags: readonly string[] })[]> {
    const rows = await this.db.prisma.experimentResult.findMany({
      where: { experimentId: id, caseId: { in: [...caseIds] } },
      orderBy: [{ caseId: 'asc' }, { variant: 'asc' }, { repeat: 'asc' }],
      include: { case: { select: { content: true, tags: true } } },
    });
    return rows.map(({ case: { content, tags }, ...row }) => ({
      ...toResult(row),
      content: content as unknown as CaseContent,
      tags,
    }));
  }

  /** Experiments whose jobs have given up. */
  async abandoned(before: Date, limit: number): Promise<readonly string[]> {
    const where = { endedAt: null, updatedAt: { lt: before } };
    return (await this.db.prisma.experiment.findMany({ where, take: limit, select: { id: true } })).map(({ id }) => id);
  }

  #announce(id: string): void {
    this.signals.publish('experiment-changed', id);
  }
}

/** An answer as the statement that writes it reads it. */
function toRow({ question: { caseId, variant, repeat }, result: { citations, calls, ...result } }: FinishedQuestion) {
  return { caseId, variant, repeat, ...result, details: { citations, calls } };
}

interface ExperimentRow extends Omit<Experiment, 'status' | 'variants' | 'scorers' | 'tokensMax' | 'tokens' | 'summary'> {
  readonly status: string;
  readonly variants: unknown;
  readonly scorers: unknown;
  readonly tokensMax: bigint;
  readonly tokens: bigint;
  readonly summary: unknown;
  readonly fence: number;
}

function toExperiment({ fence: _fence, ...row }: ExperimentRow): Experiment {
  return {
    ...row,
    status: row.status as ExperimentStatus,
    variants: row.variants as readonly Variant[],
    scorers: row.scorers as readonly Scorer[],
    tokensMax: Number(row.tokensMax),
    tokens: Number(row.tokens),
    summary: row.summary as ExperimentSummary | null,
  };
}

function toResult(row: {
  readonly caseId: string;
  readonly variant: number;
  readonly repeat: number;
  readonly state: string;
  readonly answer: string | null;
  readonly details: unknown;
  readonly scores: unknown;
  readonly passed: boolean | null;
  readonly value: number | null;
  readonly tokens: number;
  readonly cost: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  readonly pair: unknown;
}): ExperimentResult {
  const { caseId, variant, repeat, answer, passed, value, tokens, cost, durationMs, error } = row;
  const { citations = [], calls = [] } = (row.details ?? {}) as Partial<Pick<ExperimentResult, 'citations' | 'calls'>>;
  return {
    ...{ caseId, variant, repeat, answer, passed, value, tokens, cost, durationMs, error, citations, calls },
    state: row.state as ResultState,
    scores: (row.scores ?? []) as readonly Score[],
    pair: row.pair as PairVerdict | null,
  };
}

/** Whether there is something left to ask, of the agent or of a judge. */
async function hasRest(tx: Pick<Database, 'query'>, id: string): Promise<boolean> {
  const [rest] = await tx.query<{ readonly isThere: boolean }>(
    `select exists (
       select from experiment_results r left join experiment_results f on f."experimentId" = $1 and f."caseId" = r."caseId"
         and f.repeat = r.repeat and f.variant = ${firstVariant}
       where r."experimentId" = $1 and (r.state = 'PENDING' or (${isUnjudged})
         or (r."pairState" = 'PENDING' and r.state = 'DONE' and f.state = 'DONE'))) as "isThere"`,
    [id],
  );
  return rest?.isThere === true;
}
