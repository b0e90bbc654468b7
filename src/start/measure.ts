import type { Deps } from '../domain/deps.ts';
import type { AuditSinkCounts } from '../engine/audit/sink.ts';
import type { CopiedIndex } from '../engine/knowledge/search-index/search-index.ts';
import { splitModelId } from '../engine/models/catalog.ts';
import type { RunTimings } from '../engine/usage/timings.ts';
import type { Admissions } from '../http/limits.ts';
import type { Metrics, Sample } from '../http/log/metrics.ts';
import type { SseStreams } from '../http/reply/sse.ts';
import { RecentValue } from '../lib/recent-value.ts';
import type { Signals } from '../storage/ground/signals/signals.ts';
import type { SearchIndexStore } from '../storage/knowledge/search-index/store.ts';
import type { AuditSinkStore } from '../storage/operations/audit/sink.ts';

/** The database counts the waiting entries at most this often. */
const sweptReadEveryMs = 5_000;
const sinkReadEveryMs = 5_000;
/** The database counts the changes that wait for the search index at most this often. */
const lagReadEveryMs = 5_000;

const ofModel = ['provider', 'model'] as const;

/** What the process does, for dashboards. No label has more values than a list of ours. deploy/grafana/parley.json shows these metrics. */
export function measure(
  metrics: Metrics,
  { runs, jobs, pools, knowledge, passwords, dataLife, auditSink, storage }: Deps,
  streams: SseStreams,
  admissions: Admissions,
): void {
  metrics.gauge('streams_open', 'Open event streams.', () => streams.openCount);
  metrics.counter('password_hashes_total', 'Hashes of passwords that were made, to set or to check one.', [], () => [
    { labels: {}, value: passwords.count },
  ]);
  metrics.gauge('runs_active', 'Requests that hold a run at this moment.', () => admissions.runs.share.count);
  metrics.counter('pool_refusals_total', 'Requests refused for want of a place, by pool.', ['pool'], () =>
    labelled('pool', pools.refused),
  );
  metrics.gauges('pool_waiting', 'Work that waits for a place, by pool.', ['pool'], () => labelled('pool', pools.waiting()));
  metrics.counter('runs_total', 'Runs that ended in this process, by status.', ['status'], () =>
    labelled('status', runs.counts.ended),
  );
  metrics.gauge('jobs_running', 'Jobs this process works on at this moment.', () => jobs.counts.running);
  metrics.gauges('jobs_waiting', 'Jobs of all processes that wait, by name.', ['job'], async () =>
    labelled('job', (await jobs.counts.waiting()) ?? []),
  );
  metrics.counter('jobs_completed_total', 'Jobs done, by name.', ['job'], () => labelled('job', jobs.counts.completed));
  metrics.counter('jobs_failed_total', 'Tries of jobs that failed, by name.', ['job'], () => labelled('job', jobs.counts.failed));
  metrics.counter('retention_deleted_total', 'Rows that were deleted because they were old, by kind.', ['kind'], () =>
    labelled('kind', dataLife.deleted),
  );
  // One of several processes sweeps.
  const sweptElsewhere = new RecentValue(sweptReadEveryMs, () => storage.tasks.endedAt('retention.sweep'));
  metrics.gauges(
    'retention_sweep_age_seconds',
    'Time since a process of this installation last finished a sweep of old data.',
    [],
    async () => {
      const sweptAtMs = Math.max(dataLife.sweptAt?.getTime() ?? 0, (await sweptElsewhere.read())?.getTime() ?? 0);
      return sweptAtMs === 0 ? [] : [{ labels: {}, value: (Date.now() - sweptAtMs) / 1_000 }];
    },
  );
  measureSignals(metrics, storage.signals);
  if (auditSink !== undefined) measureAuditSink(metrics, auditSink.counts, storage.operations.auditSink);
  if (knowledge.copy !== undefined) measureSearchIndex(metrics, knowledge.copy.index, storage.knowledge.searchIndex);
  measureModels(metrics, runs.counts.timings);
  const { modes, lexical, unreranked: unrerankedTally } = knowledge.counts;
  metrics.counter('retrievals_total', 'Searches for passages, by mode.', ['mode'], () => labelled('mode', modes));
  metrics.counter(
    'retrievals_lexical_total',
    'Searches without vectors although EMBEDDING_MODEL is set, by reason.',
    ['reason'],
    () => labelled('reason', lexical),
  );
  metrics.counter(
    'retrievals_unreranked_total',
    'Searches that RERANK_URL did not sort although it is set, by reason.',
    ['reason'],
    () => labelled('reason', unrerankedTally),
  );
  metrics.gauges('passages_without_vectors', 'Passages of documents whose vectors are not complete.', [], async () => {
    const count = await knowledge.withoutVectors();
    return count === undefined ? [] : [{ labels: {}, value: count }];
  });
}

function measureSignals(metrics: Metrics, signals: Signals): void {
  metrics.gauge('signals_live', '1 while signals of other processes arrive at once, 0 while changes are looked up.', () =>
    signals.state() === 'live' ? 1 : 0,
  );
  metrics.counter('signals_sent_total', 'Messages of this process to other processes.', [], () => [
    { labels: {}, value: signals.counts.sent },
  ]);
  metrics.counter('signals_heard_total', 'Messages of other processes to this process.', [], () => [
    { labels: {}, value: signals.counts.heard },
  ]);
  metrics.gauge('runs_watched', 'Runs whose events this process waits for.', () => signals.counts.watched);
  metrics.gauges('notification_queue_usage', 'The filled part of the queue of notifications of the database, 0 to 1.', [], () => {
    const { queueUsage } = signals.counts;
    return queueUsage === undefined ? [] : [{ labels: {}, value: queueUsage }];
  });
  metrics.counter('notification_listeners_ended_total', 'Stuck listeners that this process ended in the database.', [], () => [
    { labels: {}, value: signals.counts.endedListeners ?? 0 },
  ]);
}

function measureAuditSink(metrics: Metrics, counts: AuditSinkCounts, store: Pick<AuditSinkStore, 'progress'>): void {
  const progress = new RecentValue(sinkReadEveryMs, () => store.progress());
  metrics.counter(
    'audit_sink_sent_total',
    'Audit entries that the receiver of AUDIT_SINK_URL took from this process.',
    [],
    () => [{ labels: {}, value: counts.sent }],
  );
  metrics.counter('audit_sink_failures_total', 'Attempts of this process to send audit entries that failed.', [], () => [
    { labels: {}, value: counts.failed },
  ]);
  metrics.gauges('audit_sink_lag_entries', 'Audit entries of all processes that wait to be sent.', [], async () => {
    const read = await progress.read();
    return read === undefined ? [] : [{ labels: {}, value: read.waitingCount }];
  });
  metrics.gauges(
    'audit_sink_lag_seconds',
    'Age of the oldest audit entry that waits to be sent; 0 without one.',
    [],
    async () => {
      const read = await progress.read();
      if (read === undefined) return [];
      const { oldestWaitingAt } = read;
      const ageMs = oldestWaitingAt === null ? 0 : Math.max(0, Date.now() - oldestWaitingAt.getTime());
      return [{ labels: {}, value: ageMs / 1_000 }];
    },
  );
}

function measureSearchIndex(metrics: Metrics, { answers }: Pick<CopiedIndex, 'answers'>, { changes }: SearchIndexStore): void {
  const lag = new RecentValue(lagReadEveryMs, () => changes.lag());
  metrics.counter(
    'search_index_answers_total',
    'Searches by who answered them: the index, or the database, with the reason.',
    ['answer'],
    () => labelled('answer', answers),
  );
  metrics.gauges(
    'search_index_lag_items',
    'Documents of all processes whose change the search index has not got.',
    [],
    async () => {
      const read = await lag.read();
      return read === undefined ? [] : [{ labels: {}, value: read.items }];
    },
  );
  metrics.gauges('search_index_lag_seconds', 'Age of the oldest change that the search index has not got.', [], async () => {
    const read = await lag.read();
    return read === undefined ? [] : [{ labels: {}, value: read.seconds }];
  });
}

function measureModels(metrics: Metrics, timings: RunTimings): void {
  const { calls, tokens, callSeconds, firstTokenSeconds, retrievalSeconds, retrievalBoundsSeconds } = timings;
  metrics.counter('tokens_total', 'Tokens of upstream calls, by direction and model.', ['direction', ...ofModel], () => [
    ...byModel(tokens.input, { direction: 'input' }),
    ...byModel(tokens.output, { direction: 'output' }),
  ]);
  metrics.counter('model_calls_total', 'Model calls of runs, by model and outcome.', ['outcome', ...ofModel], () =>
    (['ok', 'error', 'cut'] as const).flatMap((outcome) => byModel(calls[outcome], { outcome })),
  );
  metrics.histogram(
    'model_call_duration_seconds',
    'Time from the request to a model to the end of its answer.',
    ofModel,
    callSeconds.boundsSeconds,
    () => byModel(callSeconds, {}),
  );
  metrics.histogram(
    'model_first_token_seconds',
    'Time from the request to a model to the first part of its answer.',
    ofModel,
    firstTokenSeconds.boundsSeconds,
    () => byModel(firstTokenSeconds, {}),
  );
  metrics.histogram('retrieval_duration_seconds', 'Time of a search for passages.', [], retrievalBoundsSeconds, () => [
    { labels: {}, value: retrievalSeconds },
  ]);
}

function labelled(label: string, counts: Iterable<readonly [string, number]>): readonly Sample<number>[] {
  return Array.from(counts, ([name, value]) => ({ labels: { [label]: name }, value }));
}

/** The provider of a model that is not configured is not shown either. */
function byModel<T>(values: Iterable<readonly [string, T]>, labels: Readonly<Record<string, string>>): readonly Sample<T>[] {
  return Array.from(values, ([model, value]) => ({
    labels: { ...labels, provider: splitModelId(model).provider || model, model },
    value,
  }));
}
