import { Link } from 'wouter';
import { useText } from '../../../text/text.ts';
import { formatCost } from '../../../ui/cost.ts';
import { Card, Facts } from '../../../ui/page.tsx';
import { formatMs } from '../../../ui/small.tsx';
import { modeWords } from '../words.ts';
import type { RunDetail } from './steps.ts';

/** What a run took and cost, and who it belongs to. */
export function RunFacts({
  run,
  currency,
  elapsedMs,
  tokensSoFar,
}: {
  readonly run: RunDetail;
  readonly currency: string;
  /** Of a run that goes on. */
  readonly elapsedMs: number | undefined;
  readonly tokensSoFar: number | null;
}) {
  const { t, number, date } = useText();
  const { usage, retrieval } = run;
  const ms = elapsedMs ?? run.durationMs;
  const facts: readonly (readonly [string, React.ReactNode] | undefined)[] = [
    [t('Started'), date(run.createdAt, { dateStyle: 'medium', timeStyle: 'medium' })],
    ms === null ? undefined : [t('Took'), formatMs(ms, number)],
    run.firstTokenMs === null ? undefined : [t('First token after'), formatMs(run.firstTokenMs, number)],
    run.cost === null && elapsedMs !== undefined
      ? undefined
      : [t('Cost'), run.cost === null ? t('Not known') : formatCost(run.cost, currency, number)],
    usage === null
      ? tokensSoFar === null
        ? undefined
        : [t('Tokens so far'), number(tokensSoFar)]
      : [
          t('Tokens'),
          t('{input} in, {output} out', { input: number(usage.inputTokens), output: number(usage.outputTokens) }) +
            (usage.isEstimated === true ? ` (${t('partly estimated')})` : ''),
        ],
    (usage?.cachedTokens ?? 0) === 0 ? undefined : [t('From the cache'), number(usage?.cachedTokens ?? 0)],
    (usage?.cacheWriteTokens ?? 0) === 0 ? undefined : [t('Into the cache'), number(usage?.cacheWriteTokens ?? 0)],
    (usage?.reasoningTokens ?? 0) === 0 ? undefined : [t('For thinking'), number(usage?.reasoningTokens ?? 0)],
    run.modelId === null ? undefined : [t('Model'), run.modelId],
    run.answeredModelId === null || run.answeredModelId === run.modelId ? undefined : [t('Answered by'), run.answeredModelId],
    run.agent === null
      ? undefined
      : [
          t('Agent'),
          <Link key="agent" href={`/agents/${run.agent.id}`}>
            {run.agent.name}
          </Link>,
        ],
    run.agentVersion === null ? undefined : [t('Version'), <AgentVersion key="version" run={run} />],
    run.user === null ? undefined : [t('Person'), run.user.name],
    run.key === null ? undefined : [t('Key'), run.key.name],
    retrieval === null
      ? undefined
      : [
          t('Passages'),
          retrieval.mode === null
            ? t('Knowledge could not be searched')
            : t('{count, plural, one {# passage} other {# passages}}', { count: retrieval.passageCount }) +
              ` (${modeWords(t)[retrieval.mode]})`,
        ],
    retrieval?.bestScore == null
      ? undefined
      : [t('Best score'), number(retrieval.bestScore, { minimumFractionDigits: 3, maximumFractionDigits: 3 })],
    run.isStored ? undefined : [t('Kept'), t('Only these figures: what was said is not kept')],
  ];
  return (
    <Card>
      <Facts items={facts.filter((fact) => fact !== undefined)} />
    </Card>
  );
}

/** The version of the agent that answered; a link for those who may edit the agent. */
function AgentVersion({ run: { agent, agentVersion } }: { readonly run: RunDetail }) {
  const { t } = useText();
  if (agentVersion === 0) return t('A draft that was not published');
  if (agentVersion === null || agent?.canEdit !== true) return agentVersion;
  return <Link href={`/agents/${agent.id}/versions/${agentVersion}`}>{agentVersion}</Link>;
}
