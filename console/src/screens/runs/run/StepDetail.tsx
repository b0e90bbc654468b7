import type { ReactNode } from 'react';
import { useText } from '../../../text/text.ts';
import { formatCost } from '../../../ui/cost.ts';
import { Note } from '../../../ui/feedback.tsx';
import { useFaultWords } from '../../../ui/form/faults/words.ts';
import { Facts } from '../../../ui/page.tsx';
import { CodeBox, formatMs } from '../../../ui/small.tsx';
import type { StepFragment } from '../documents.ts';
import { Passages } from '../Passages.tsx';
import { modeWords, stepWords } from '../words.ts';
import type { RunDetail } from './steps.ts';
import { errorWords, findCall } from './steps.ts';
import styles from './waterfall.module.css';

type Fact = readonly [name: string, value: ReactNode];
type Of<Name extends StepFragment['__typename']> = Extract<StepFragment, { readonly __typename: Name }>;

/** What a step was given and what it gave. */
export function StepDetail({
  run,
  step,
  currency,
}: {
  readonly run: RunDetail;
  readonly step: StepFragment;
  readonly currency: string;
}) {
  const { t, number } = useText();
  const failure = step.errorCode === null ? undefined : errorWords(step.errorCode, t);
  return (
    <div className={styles.detail}>
      {failure === undefined || step.__typename === 'ToolCallStep' ? null : <Note tone="bad">{failure}</Note>}
      <Facts
        items={[
          [t('State'), stepWords(t)[step.status]],
          ...(step.offsetMs === null ? [] : [[t('Started after'), formatMs(step.offsetMs, number)] as const]),
          ...(step.durationMs === null ? [] : [[t('Took'), formatMs(step.durationMs, number)] as const]),
          ...listFacts(step, { t, number, currency }),
        ]}
      />
      {step.__typename === 'RetrievalStep' ? <Retrieval step={step} /> : null}
      {step.__typename === 'ToolCallStep' ? <ToolCall run={run} step={step} failure={failure} /> : null}
      {step.__typename === 'SubagentStep' ? <Subagent run={run} step={step} /> : null}
    </div>
  );
}

function listFacts(
  step: StepFragment,
  { t, number, currency }: Pick<ReturnType<typeof useText>, 't' | 'number'> & { readonly currency: string },
): readonly Fact[] {
  if (step.__typename === 'RetrievalStep') return step.mode === null ? [] : [[t('Searched'), modeWords(t)[step.mode]]];
  if (step.__typename !== 'ModelCallStep' && step.__typename !== 'SubagentStep') return [];
  const { usage, cost } = step;
  const facts: Fact[] = [];
  if (step.__typename === 'ModelCallStep' && step.firstTokenMs !== null) {
    facts.push([t('First token after'), formatMs(step.firstTokenMs, number)]);
  }
  if (usage !== null) {
    const values = { input: number(usage.inputTokens), output: number(usage.outputTokens) };
    facts.push([t('Tokens'), t('{input} in, {output} out', values)]);
  }
  facts.push([t('Cost'), cost === null ? t('Not known') : formatCost(cost, currency, number)]);
  return facts;
}

function Retrieval({ step }: { readonly step: Of<'RetrievalStep'> }) {
  const { t } = useText();
  return (
    <>
      {step.question === null ? null : (
        <p>
          <span className={styles.quiet}>{t('Searched for')}</span> {step.question}
        </p>
      )}
      {step.reason === null ? null : <Note tone="warn">{step.reason}</Note>}
      {step.passages.length === 0 ? null : <Passages title={t('What was found, best first')} passages={step.passages} />}
    </>
  );
}

function ToolCall({
  run,
  step,
  failure,
}: {
  readonly run: RunDetail;
  readonly step: Of<'ToolCallStep'>;
  readonly failure: string | undefined;
}) {
  const { t } = useText();
  const call = findCall(run, step.callId);
  const { describeFault } = useFaultWords();
  const error = call.error === undefined ? failure : describeFault(call.error);
  return (
    <>
      {error === undefined ? null : <Note tone="bad">{error}</Note>}
      {call.server === undefined ? null : (
        <p>
          <span className={styles.quiet}>{t('MCP server')}</span> {call.server}
        </p>
      )}
      {call.arguments === undefined ? null : (
        <>
          <h3>{t('What it was given')}</h3>
          <CodeBox label={t('What it was given')} text={call.arguments} />
        </>
      )}
      {call.output === undefined ? null : (
        <>
          <h3>{t('What it gave')}</h3>
          <CodeBox label={t('What it gave')} text={call.output} />
        </>
      )}
      {call.arguments === undefined && call.output === undefined ? (
        <p className={styles.quiet}>{t('What it was given and what it gave is not kept, or not shown to you.')}</p>
      ) : null}
    </>
  );
}

function Subagent({ run, step }: { readonly run: RunDetail; readonly step: Of<'SubagentStep'> }) {
  const { t } = useText();
  const subagent = run.trace?.subagents.find(({ id }) => id === step.id);
  if (subagent === undefined) return null;
  return (
    <>
      <h3>{t('Its task')}</h3>
      <p className={styles.text}>{subagent.task}</p>
      {subagent.summary === null ? null : (
        <>
          <h3>{t('What it found')}</h3>
          <p className={styles.text}>{subagent.summary}</p>
        </>
      )}
    </>
  );
}
