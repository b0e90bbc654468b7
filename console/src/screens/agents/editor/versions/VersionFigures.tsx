import { Link } from 'wouter';
import { usePage } from '../../../../graphql/hooks.ts';
import { useSession } from '../../../../parts/session/session.tsx';
import { useText } from '../../../../text/text.ts';
import { formatCost } from '../../../../ui/cost.ts';
import { Badge, ErrorNote, Skeleton } from '../../../../ui/feedback.tsx';
import { Section, Table } from '../../../../ui/page.tsx';
import { formatMs } from '../../../../ui/small.tsx';
import type { EditorAgent } from '../section.ts';
import { AgentVersionFiguresDocument, type AgentVersionFiguresQuery } from './documents.ts';
import styles from './versions.module.css';
import { versionTitle } from './words.ts';

type Statistics = AgentVersionFiguresQuery['agentVersionStatistics'][number];
type Figures = Statistics['figures'] & Pick<Statistics, 'unansweredCount' | 'toolErrorCount'>;

/** What the runs of an agent took, by version; 0 stands for drafts. */
export function useVersionFigures(agentId: string, since: string | undefined) {
  const session = useSession();
  const pause = !session.may('CHATS_READ');
  const { data, error, isLoading, reload } = usePage(
    AgentVersionFiguresDocument,
    { id: agentId, since: since ?? null },
    { pause },
  );
  const byVersion = new Map(
    data?.agentVersionStatistics.flatMap(({ version, figures, ...counts }) =>
      version === null ? [] : [[version, { ...figures, ...counts }] as const],
    ),
  );
  return { byVersion, error, isLoading, reload };
}

interface Props {
  readonly agent: EditorAgent;
  readonly currency: string;
}

/** How the versions do, beside each other. */
export function VersionFigures({ agent, currency }: Props) {
  const { t } = useText();
  const { byVersion, error, isLoading, reload } = useVersionFigures(agent.id, undefined);
  const versions = [...byVersion.keys()].toSorted((one, other) => other - one);
  return (
    <Section title={t('How they do')} lead={t('Answers of the last 30 days, by the version that gave them.')}>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton /> : null}
      {versions.length === 0 && !isLoading && error === undefined ? (
        <p className={styles.quiet}>{t('No version has answered yet.')}</p>
      ) : null}
      {versions.length === 0 ? null : (
        <FiguresTable label={t('How they do')} versions={versions} agent={agent} figures={byVersion} currency={currency} />
      )}
    </Section>
  );
}

interface TableProps extends Props {
  readonly label: string;
  readonly versions: readonly number[];
  readonly figures: ReadonlyMap<number, Figures>;
}

/** A row for each version. */
function FiguresTable({ label, versions, agent, figures, currency }: TableProps) {
  const { t } = useText();
  const measures = useMeasures(currency);
  return (
    <Table label={label}>
      <thead>
        <tr>
          <th scope="col">{t('Version')}</th>
          {measures.map(({ name }) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {versions.map((version) => (
          <tr key={version}>
            <th scope="row" className={styles.nowrap}>
              <VersionLink agent={agent} version={version} />
            </th>
            {measures.map(({ name, read }) => (
              <td key={name} className={styles.nowrap}>
                {read(figures.get(version))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

/** A column for each version: a few of them beside each other, on a phone too. */
export function SidesTable({ label, versions, agent, figures, currency }: TableProps) {
  const { t } = useText();
  const measures = useMeasures(currency);
  return (
    <Table label={label}>
      <thead>
        <tr>
          <th scope="col">{t('Version')}</th>
          {versions.map((version) => (
            <th key={version} scope="col">
              <VersionLink agent={agent} version={version} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {measures.map(({ name, read }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {versions.map((version) => (
              <td key={version} className={styles.nowrap}>
                {read(figures.get(version))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function VersionLink({ agent, version }: { readonly agent: EditorAgent; readonly version: number }) {
  const { t } = useText();
  if (version === 0) return t('Drafts');
  return (
    <>
      <Link href={`/agents/${agent.id}/versions/${version}`}>{versionTitle(t, String(version))}</Link>{' '}
      {version === agent.publishedVersion ? <Badge tone="good">{t('People get this')}</Badge> : null}
    </>
  );
}

/** What is said of a version, in the order of the table. Undefined figures: nobody asked it. */
function useMeasures(currency: string) {
  const { t, number } = useText();
  const count = (name: string, read: (figures: Figures) => number) => ({
    name,
    read: (figures: Figures | undefined) => number(figures === undefined ? 0 : read(figures)),
  });
  const time = (name: string, read: (figures: Figures) => number | undefined) => ({
    name,
    read: (figures: Figures | undefined) => {
      const ms = figures === undefined ? undefined : read(figures);
      return ms === undefined ? '–' : formatMs(ms, number);
    },
  });
  return [
    count(t('Answers'), ({ runCount }) => runCount),
    count(t('Rated good'), ({ ratedUpCount }) => ratedUpCount),
    count(t('Rated bad'), ({ ratedDownCount }) => ratedDownCount),
    count(t('Left open'), ({ unansweredCount }) => unansweredCount),
    count(t('Failed'), ({ failedCount }) => failedCount),
    count(t('Failed calls of tools'), ({ toolErrorCount }) => toolErrorCount),
    {
      name: t('Cost of an answer'),
      read: (figures: Figures | undefined) => {
        const pricedCount = (figures?.runCount ?? 0) - (figures?.unpricedCount ?? 0);
        return figures === undefined || pricedCount <= 0 ? '–' : formatCost(figures.cost / pricedCount, currency, number);
      },
    },
    time(t('Half within'), ({ durationMs }) => durationMs?.p50),
    time(t('95 of 100 within'), ({ durationMs }) => durationMs?.p95),
  ];
}
