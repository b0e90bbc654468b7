import { useReadingFailures } from '../../../parts/reading-failures.ts';
import { useText } from '../../../text/text.ts';
import { Note } from '../../../ui/feedback.tsx';
import { Card, Facts } from '../../../ui/page.tsx';
import { Time } from '../../../ui/small.tsx';
import { describePlace, hasPermissions } from '../kinds.ts';
import { StateBadge } from '../StateBadge.tsx';
import { useWords } from '../words.ts';
import { Agents } from './Agents.tsx';
import { Failures } from './Failures.tsx';
import { PermissionNote } from './permissions/PermissionNote.tsx';
import { ReadingCard } from './ReadingCard.tsx';
import type { Source } from './source.ts';

/** How a source is, at a glance. */
export function Overview({ source, onChanged }: { readonly source: Source; readonly onChanged: () => void }) {
  const { t, number } = useText();
  const { nameKind, periods, describeState } = useWords();
  const { type, statistics, owner, lastIndexedAt, refreshPeriod, vectors, connection } = source;
  const describeFailure = useReadingFailures();
  const failure = describeFailure(source);
  const isBusy = source.activeRun !== null || describeState(source).isBusy;
  return (
    <>
      {isBusy ? <ReadingCard source={source} /> : null}
      {!isBusy && failure !== undefined ? <Note tone={source.indexStatus === 'FAILED' ? 'bad' : 'warn'}>{failure}</Note> : null}
      <PermissionNote source={source} isLinked />
      {connection?.needsReauthorization === true ? (
        <Note tone="warn">
          {t('The account "{name}" has to be connected again. Until then what was read goes on answering.', {
            name: connection.accountName,
          })}
        </Note>
      ) : null}
      {vectors !== null && vectors.errorMessage !== null ? <Note tone="warn">{describeFailure(vectors)}</Note> : null}
      <Card>
        <Facts
          items={[
            [t('State'), <StateBadge key="state" source={source} />],
            [t('Kind'), <Origin key="kind" source={source} kind={nameKind(type)} />],
            [
              t('Documents'),
              statistics.failedCount === 0
                ? number(statistics.totalCount)
                : t('{total}, of which {failed} failed', { total: statistics.totalCount, failed: statistics.failedCount }),
            ],
            [t('Read again'), periods[refreshPeriod]],
            [t('Last read'), lastIndexedAt === null ? t('Not yet') : <Time key="read" at={lastIndexedAt} />],
            [t('Owner'), owner?.name ?? t('Gone')],
            [t('Seen by'), source.orgVisible ? t('Everybody in the organization') : t('The owner, and who uses its agents')],
            ...(hasPermissions(type) ? [[t('Answers from it'), describeAccess(source, t)] as const] : []),
            [t('Found by'), foundBy(vectors, t)],
          ]}
        />
      </Card>
      <Failures source={source} />
      <Agents source={source} onChanged={onChanged} />
    </>
  );
}

function describeAccess({ access }: Source, t: ReturnType<typeof useText>['t']): string {
  return access === 'MIRRORED' ? t('Each person from what that person may open there') : t('Everybody from all of it');
}

function foundBy(vectors: Source['vectors'], t: ReturnType<typeof useText>['t']): string {
  if (vectors === null) return t('Words');
  if (vectors.missingCount === 0) return t('Words and meaning');
  return t('Words; by meaning once {count} more passages are ready', { count: vectors.missingCount });
}

/** Where a source comes from: an address, a folder, a project. */
function Origin({ source: { settings }, kind }: { readonly source: Source; readonly kind: string }) {
  const place = describePlace(settings);
  if (settings?.__typename === 'WebUrlSettings') {
    return (
      <>
        {kind}:{' '}
        <a href={settings.url} target="_blank" rel="noopener noreferrer">
          {settings.url}
        </a>
      </>
    );
  }
  return <>{place === undefined ? kind : `${kind}: ${place}`}</>;
}
