import { Bot, ChevronRight, CircleAlert, Cpu, Library, Milestone, Wrench } from 'lucide-react';
import { type Text, useText } from '../../../text/text.ts';
import { formatCost } from '../../../ui/cost.ts';
import { Spinner } from '../../../ui/progress.tsx';
import { formatMs } from '../../../ui/small.tsx';
import type { StepFragment } from '../documents.ts';
import { stepWords } from '../words.ts';
import { StepDetail } from './StepDetail.tsx';
import type { RunDetail } from './steps.ts';
import { summarizeStep } from './steps.ts';
import styles from './waterfall.module.css';

interface PlacedStep {
  readonly step: StepFragment;
  readonly key: string;
  /** 0 for the run itself, 1 for its subagents' steps, and so on. */
  readonly depth: number;
}

/** The steps of a run, each with its place in time; opened, what it was given and what it gave. */
export function Waterfall({
  run,
  currency,
  totalMs,
  progress,
}: {
  readonly run: RunDetail;
  readonly currency: string;
  readonly totalMs: number;
  readonly progress: ReadonlyMap<string, string>;
}) {
  const { t, number } = useText();
  const steps = inOrder(run.steps);
  if (steps.length === 0) {
    return (
      <p className={styles.quiet}>
        {run.status === 'IN_PROGRESS' ? t('No step has ended yet.') : t('No steps are kept of this run.')}
      </p>
    );
  }
  const endMs = Math.max(1, totalMs, ...run.steps.map(({ offsetMs, durationMs }) => (offsetMs ?? 0) + (durationMs ?? 0)));
  return (
    <ol className={styles.steps} aria-label={t('Steps')}>
      {steps.map(({ step, key, depth }) => (
        <li key={key}>
          <details className={styles.step}>
            <summary>
              <span className={styles.name} style={{ paddingInlineStart: `${depth * 20}px` }}>
                <ChevronRight size={14} aria-hidden className={styles.chevron} />
                <StepIcon step={step} />
                <span>
                  {summarizeStep(step, t)}
                  <small>{getNote(step, { progress, currency, t, number })}</small>
                </span>
              </span>
              <span className={styles.track} aria-hidden>
                <span className={styles.bar} data-status={step.status} style={findPlace(step, endMs)} />
              </span>
              <span className={styles.took}>
                {step.durationMs === null ? stepWords(t)[step.status] : formatMs(step.durationMs, number)}
              </span>
            </summary>
            <StepDetail run={run} step={step} currency={currency} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function StepIcon({ step }: { readonly step: StepFragment }) {
  if (step.status === 'IN_PROGRESS') return <Spinner />;
  if (step.status === 'FAILED') return <CircleAlert size={16} aria-hidden className={styles.failed} />;
  const Icon = icons[step.__typename];
  return <Icon size={16} aria-hidden />;
}

const icons = {
  ModelCallStep: Cpu,
  RetrievalStep: Library,
  ToolCallStep: Wrench,
  SubagentStep: Bot,
  FlowRunStep: Milestone,
} as const;

/** A step in a second line: what it looks for, what it is doing, or what it used. */
function getNote(
  step: StepFragment,
  {
    progress,
    currency,
    t,
    number,
  }: Pick<Text, 't' | 'number'> & { readonly progress: ReadonlyMap<string, string>; readonly currency: string },
): string | undefined {
  if (step.__typename === 'RetrievalStep') return step.question ?? undefined;
  if (step.__typename === 'SubagentStep' && step.status === 'IN_PROGRESS') return progress.get(step.id);
  if (step.__typename !== 'ModelCallStep' && step.__typename !== 'SubagentStep') return undefined;
  const { usage, cost } = step;
  if (usage === null) return undefined;
  const tokens = t('{input} in, {output} out', { input: number(usage.inputTokens), output: number(usage.outputTokens) });
  return cost === null ? tokens : `${tokens} · ${formatCost(cost, currency, number)}`;
}

/** Where the bar of a step stands. One that goes on reaches to now; one of unknown time has none. */
function findPlace({ offsetMs, durationMs, status }: StepFragment, endMs: number) {
  if (offsetMs === null) return { display: 'none' };
  const ms = durationMs ?? (status === 'IN_PROGRESS' ? Math.max(0, endMs - offsetMs) : 0);
  const left = Math.min(99, (offsetMs / endMs) * 100);
  return { left: `${left}%`, width: `${Math.max(0.8, Math.min(100 - left, (ms / endMs) * 100))}%` };
}

/** The steps with those of a subagent below it. */
function inOrder(steps: readonly StepFragment[]): readonly PlacedStep[] {
  const ids = new Set(steps.flatMap((step) => (step.__typename === 'SubagentStep' ? [step.id] : [])));
  const byParent = Map.groupBy(steps, ({ subagentId }) => (subagentId !== null && ids.has(subagentId) ? subagentId : null));
  const placed: PlacedStep[] = [];
  const place = (parent: string | null, depth: number) => {
    for (const step of byParent.get(parent) ?? []) {
      placed.push({ step, depth, key: `${parent ?? 'run'} ${placed.length}` });
      if (step.__typename === 'SubagentStep') place(step.id, depth + 1);
    }
  };
  place(null, 0);
  return placed;
}
