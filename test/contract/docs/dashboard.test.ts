import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { indexed } from '../../support/knowledge/knowledge.ts';
import { eventually } from '../../support/processes/eventually.ts';
import { withService } from '../../support/service.ts';

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}
interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly Target[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const dashboard: Dashboard = JSON.parse(readFileSync(new URL('../../../deploy/grafana/parley.json', import.meta.url), 'utf8'));
const targets = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const named = targets.map(({ title, expr }) => [title, expr] as const);

/** Added by Prometheus to each sample. */
const ofPrometheus = ['instance'];

interface Metric {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}
/** What /metrics has, by the names that samples have there. */
let metrics: ReadonlyMap<string, Metric>;

const { service, make } = await withService('model', {});

beforeAll(async () => {
  // A sample of everything that has none before it happens.
  const ann = await make.person();
  const agent = await make.agent({ owner: ann });
  const source = await make.apiDataSource({ owner: ann, agentId: agent.id, data: { a: 'the harbour' } });
  await indexed(ann, source.id);
  const messages = [{ role: 'user', content: 'What of the harbour?' }];
  expect((await ann.post('/api/v1/chat/completions', { model: agent.id, messages })).status).toBe(200);
  metrics = await eventually(async () => {
    const text = String((await service.nobody.get('/metrics')).body);
    // Counted by a database that may be slow to answer; and of a job that goes on after its document is indexed.
    expect(text).toContain('parley_jobs_waiting{');
    expect(text).toMatch(/^parley_jobs_completed_total\{/m);
    return metricsOf(text);
  });
});

function metricsOf(text: string): ReadonlyMap<string, Metric> {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const found = new Map<string, { readonly type: string; readonly labels: Set<string> }>();
  for (const [name, type] of types) {
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name];
    for (const each of names) found.set(each, { type, labels: new Set() });
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z0-9_]+)(\{[^}]*\})? /gm)) {
    for (const [, label = ''] of labels.matchAll(/[{,](\w+)="/g)) found.get(name)?.labels.add(label);
  }
  return found;
}

/** The metrics that an expression reads, with the text of their matchers and what stands around them. */
function readsOf(expr: string) {
  return Array.from(
    expr.matchAll(/(?<before>\w+\()?(?<name>parley_\w+)(?:\{(?<matchers>[^}]*)\})?(?<range>\[[^\]]+\])?/g),
    (match) => ({
      name: match.groups?.name ?? '',
      function: match.groups?.before?.slice(0, -1),
      matchers: match.groups?.matchers ?? '',
      range: match.groups?.range,
    }),
  );
}

describe('deploy/grafana/parley.json', () => {
  it.each(named)('%s: reads metrics and labels that /metrics has', (_title, expr) => {
    const reads = readsOf(expr);
    expect(reads.length).toBeGreaterThan(0);
    const by = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
    for (const { name, matchers } of reads) {
      const metric = metrics.get(name);
      expect(metric, name).toBeDefined();
      const matched = matchers
        .split(/,\s*/)
        .map((matcher) => /^(\w+)(?:=~|!~|!=|=)"[^"]+"$/.exec(matcher)?.[1] ?? `malformed: ${matcher}`);
      // A refusal and a failed job leave no sample in a service that does well.
      const known = ['parley_pool_refusals_total', 'parley_jobs_failed_total'].includes(name) ? ['pool', 'job'] : [];
      const allowed = [...ofPrometheus, ...(metric?.labels ?? []), ...known];
      expect([...matched, ...by].filter((label) => !allowed.includes(label))).toEqual([]);
    }
  });

  it.each(named)('%s: is a plausible expression', (_title, expr) => {
    expect(expr).toMatch(/^[\w(]/);
    for (const [open, close] of ['()', '{}', '[]'].map((pair) => [...pair])) {
      expect(expr.split(open ?? '').length).toBe(expr.split(close ?? '').length);
    }
    const functions = [...expr.matchAll(/\b([a-z_]+) ?(?=\()/g)].map(([, name]) => name);
    expect(functions.filter((name) => !['sum', 'max', 'by', 'rate', 'histogram_quantile'].includes(name ?? ''))).toEqual([]);
    for (const { name, function: around, range } of readsOf(expr)) {
      const grows = metrics.get(name)?.type !== 'gauge';
      // What only grows is shown as a rate, and nothing else is.
      expect([name, around === 'rate', range]).toEqual([name, grows, grows ? '[$__rate_interval]' : undefined]);
      expect(name.endsWith('_bucket')).toBe(expr.startsWith('histogram_quantile('));
    }
    if (expr.startsWith('histogram_quantile(')) expect(expr).toMatch(/^histogram_quantile\(0\.\d+, sum by \(le[,)]/);
  });

  it('names in its legends only what an expression keeps', () => {
    for (const { expr, legendFormat } of targets) {
      const kept = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(kept).toContain(label);
    }
  });

  it('shows every metric of ours', () => {
    const shown = new Set(targets.flatMap(({ expr }) => readsOf(expr).map(({ name }) => name.replace(/_bucket$/, ''))));
    const ours = [...metrics.keys()]
      .filter((name) => !/^parley_(?:nodejs|process)_/.test(name))
      .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
    expect([...new Set(ours)].filter((name) => !shown.has(name))).toEqual([]);
  });

  it('has panels with ids and titles of their own, and asks its variables of a metric that is there', () => {
    for (const member of ['id', 'title'] as const) {
      const values = dashboard.panels.map((panel) => panel[member]);
      expect(new Set(values).size).toBe(values.length);
    }
    const [, asked = ''] = /^label_values\((\w+), instance\)$/.exec(dashboard.templating.list[1]?.definition ?? '') ?? [];
    expect(metrics.has(asked)).toBe(true);
  });
});
