import { Brain, Check, CircleAlert, Globe, Library, ListTree, Search, Users, Wrench } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { usePage } from '../../../graphql/hooks.ts';
import { type Text, useText } from '../../../text/text.ts';
import { ErrorNote } from '../../../ui/feedback.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { Progress, Spinner } from '../../../ui/progress.tsx';
import { formatMs } from '../../../ui/small.tsx';
import { ChatRunStepsDocument, type ChatRunStepsQuery } from '../documents.ts';
import { RunBuilder, type RunView, type Step } from './run-view.ts';
import styles from './steps.module.css';

/** What a run does between question and answer: the step at work while it goes on, all of them when the reader unfolds it. */
export function Steps({
  runId,
  view,
  isLive,
  hasText,
}: {
  readonly runId: string;
  readonly view: RunView | undefined;
  readonly isLive: boolean;
  readonly hasText: boolean;
}) {
  const text = useText();
  const { t } = text;
  const [isOpen, setOpen] = useState(false);
  const steps = view?.steps ?? [];
  if (isLive && steps.length === 0) {
    if (hasText) return null;
    return (
      <p className={styles.waiting} role="status">
        <Spinner /> {view?.hint ?? t('Thinking…')}
      </p>
    );
  }
  const current = steps.at(-1);
  const ms = view?.ended?.durationMs ?? undefined;
  const summary =
    isLive && current !== undefined ? (
      <>
        {hasText ? null : <Spinner />} {getTitle(current, text)}
      </>
    ) : steps.length > 0 ? (
      <>
        {t('{count, plural, one {# step} other {# steps}}', { count: steps.length })}
        {ms === undefined ? null : ` · ${formatMs(ms, text.number)}`}
      </>
    ) : (
      t('How this was answered')
    );
  return (
    <details className={styles.steps} data-unprinted onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen ? steps.length > 0 ? <StepList steps={steps} /> : <LoadedSteps runId={runId} /> : null}
    </details>
  );
}

/** The steps of a run that this page did not follow. */
function LoadedSteps({ runId }: { readonly runId: string }) {
  const { t, number } = useText();
  const { data, error, isLoading } = usePage(ChatRunStepsDocument, { runId });
  if (isLoading) return <Spinner label={t('Loading')} />;
  if (error !== undefined) return <ErrorNote error={error} />;
  const run = data?.run ?? undefined;
  const steps = run === undefined ? [] : listSteps(run);
  return (
    <>
      {steps.length === 0 ? (
        <p className={styles.note}>{t('The model answered at once, without steps that are shown.')}</p>
      ) : null}
      <StepList steps={steps} />
      {typeof run?.durationMs === 'number' ? <p className={styles.note}>{formatMs(run.durationMs, number)}</p> : null}
    </>
  );
}

function listSteps({ id, steps, flowSteps, output, trace }: NonNullable<ChatRunStepsQuery['run']>): readonly Step[] {
  const builder = new RunBuilder();
  for (const [index, step] of steps.entries()) {
    if (step.__typename === 'RetrievalStep') {
      const visiblePassages = step.passages.filter(({ isHidden }) => !isHidden);
      const titles = [...new Set(visiblePassages.map(({ title }) => title))];
      builder.takeRetrieval(`retrieval-${index}`, titles, step.passages.length - visiblePassages.length);
    }
  }
  for (const step of flowSteps) builder.takeFlowStep(step);
  for (const item of output) builder.takeItem(item);
  for (const subagent of trace?.subagents ?? []) builder.takeSubagent(subagent);
  return builder.view(id, undefined).steps;
}

function StepList({ steps }: { readonly steps: readonly Step[] }) {
  const text = useText();
  return (
    <ol className={styles.list}>
      {steps.map((step) => (
        <li key={step.id}>
          <span className={styles.icon}>{getIcon(step)}</span>
          <div className={styles.step}>
            <div>{getTitle(step, text)}</div>
            <Details step={step} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function getIcon(step: Step): ReactNode {
  if (step.kind === 'reasoning') return <Brain size={15} aria-hidden />;
  if (step.kind === 'retrieval') return <Library size={15} aria-hidden />;
  if (step.kind === 'subagent') return <Users size={15} aria-hidden />;
  if (step.kind === 'flow') return <ListTree size={15} aria-hidden />;
  if (step.item.status === 'FAILED') return <CircleAlert size={15} aria-hidden />;
  if (step.item.__typename === 'WebSearchItem') return <Globe size={15} aria-hidden />;
  if (step.item.__typename === 'FileSearchItem') return <Search size={15} aria-hidden />;
  return step.output === undefined ? <Wrench size={15} aria-hidden /> : <Check size={15} aria-hidden />;
}

/** What a step does, in words. */
function getTitle(step: Step, { t }: Text): string {
  switch (step.kind) {
    case 'reasoning':
      return t('Thinks');
    case 'retrieval':
      if (!step.isAvailable) return t('Knowledge could not be searched');
      if (step.titles.length === 0 && step.hiddenCount > 0) return t('Searched the knowledge');
      if (step.titles.length === 0) return t('Searched the knowledge: nothing fits');
      return t('Searched the knowledge: {count, plural, one {# document} other {# documents}}', { count: step.titles.length });
    case 'subagent':
      return t('{name} works on a task', { name: step.subagent.name });
    case 'flow':
      return t('Step {name} of the flow', { name: step.step.stepId });
    case 'call': {
      const { item } = step;
      if (item.__typename === 'WebSearchItem') {
        return item.query === null
          ? t('Opens {page}', { page: item.pageUrl ?? '' })
          : t('Searches the web: {query}', { query: item.query });
      }
      if (item.__typename === 'FileSearchItem') return t('Searches files: {query}', { query: item.queries.join(', ') });
      if (item.__typename === 'McpCallItem') return t('Calls {tool} of {server}', { tool: item.tool, server: item.serverLabel });
      return t('Calls {tool}', { tool: item.name });
    }
  }
}

function Details({ step }: { readonly step: Step }) {
  const { t } = useText();
  switch (step.kind) {
    case 'reasoning':
      return <p className={styles.words}>{step.text}</p>;
    case 'retrieval':
      return (
        <>
          {step.titles.length === 0 ? null : <p className={styles.words}>{step.titles.join(' · ')}</p>}
          {step.hiddenCount === 0 ? null : (
            <p className={styles.note}>
              {t('{count, plural, one {# passage is} other {# passages are}} hidden from you: you may not open the documents.', {
                count: step.hiddenCount,
              })}
            </p>
          )}
        </>
      );
    case 'flow':
      return null;
    case 'subagent':
      return (
        <>
          <p className={styles.words}>{step.subagent.task}</p>
          {step.subagent.status === 'IN_PROGRESS' ? (
            <>
              <Progress percent={step.progress === undefined ? undefined : step.progress * 100} label={step.subagent.name} />
              <p className={styles.note}>{step.message}</p>
            </>
          ) : null}
          {step.subagent.summary === null ? null : (
            <details className={styles.fold}>
              <summary>{t('What it found')}</summary>
              <p className={styles.words}>{step.subagent.summary}</p>
            </details>
          )}
        </>
      );
    case 'call':
      return <CallDetails step={step} />;
  }
}

function CallDetails({ step: { item, output } }: { readonly step: Extract<Step, { readonly kind: 'call' }> }) {
  const { t } = useText();
  const { describeFault } = useFaultWords();
  const failure = 'error' in item ? (item.error ?? undefined) : undefined;
  return (
    <>
      {failure === undefined ? null : <p className={styles.bad}>{describeFault(failure)}</p>}
      {item.__typename === 'WebSearchItem' && item.sources.length > 0 ? (
        <p className={styles.words}>{item.sources.map(({ title, url }) => title ?? url).join(' · ')}</p>
      ) : null}
      {item.arguments === '' || item.arguments === '{}' ? null : (
        <details className={styles.fold}>
          <summary>{t('What it was called with')}</summary>
          <pre>{indented(item.arguments)}</pre>
        </details>
      )}
      {output === undefined || output === failure?.message ? null : (
        <details className={styles.fold}>
          <summary>{t('What it gave')}</summary>
          <pre>{indented(output)}</pre>
        </details>
      )}
    </>
  );
}

const shownCharsMax = 20_000;

/** JSON with line breaks; any other text as it is. */
function indented(text: string): string {
  if (text.length > shownCharsMax) return `${text.slice(0, shownCharsMax)}…`;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
