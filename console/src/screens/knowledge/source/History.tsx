import { useEffect } from 'react';
import { useList } from '../../../graphql/hooks.ts';
import { useReadingFailures } from '../../../parts/reading-failures.ts';
import { useText } from '../../../text/text.ts';
import { Badge, ErrorNote, ShowMore, Skeleton, type Tone } from '../../../ui/feedback.tsx';
import { Table } from '../../../ui/page.tsx';
import { formatMs, Time } from '../../../ui/small.tsx';
import { type RunEntryFragment, SourceHistoryDocument, type SourceRunStatus, type SourceRunTrigger } from '../documents.ts';
import knowledge from '../knowledge.module.css';
import type { Source } from './source.ts';
import { useChanges } from './use-changes.ts';

/** How a source was read, newest first. */
export function History({ source }: { readonly source: Source }) {
  const { t } = useText();
  const { id } = source;
  const { data, error, isLoading, reload, pages } = useList(SourceHistoryDocument, { id }, (data) => data.dataSource?.runs);
  const changes = useChanges(source);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another count is the reason to load it again
  useEffect(() => {
    if (data !== undefined) reload();
  }, [changes]);
  return (
    <>
      <ErrorNote error={error} onRetry={reload} />
      {isLoading ? <Skeleton lines={5} /> : null}
      {pages.nodes.length === 0 ? null : (
        <Table label={t('History')}>
          <thead>
            <tr>
              <th scope="col">{t('Started')}</th>
              <th scope="col">{t('Why')}</th>
              <th scope="col">{t('State')}</th>
              {[t('New'), t('Changed'), t('Unchanged'), t('Removed'), t('Failed'), t('Took')].map((name) => (
                <th key={name} scope="col" className={knowledge.number}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {pages.nodes.map((each) => (
              <RunRow key={each.id} entry={each} />
            ))}
          </tbody>
        </Table>
      )}
      <ShowMore pages={pages} />
    </>
  );
}

function RunRow({ entry }: { readonly entry: RunEntryFragment }) {
  const { t, number } = useText();
  const triggers: Readonly<Record<SourceRunTrigger, string>> = {
    ADDED: t('It was added'),
    REFRESH: t('Somebody asked'),
    SCHEDULE: t('By its schedule'),
    RECONNECTED: t('Its account was connected again'),
  };
  const states: Readonly<Record<SourceRunStatus, readonly [string, Tone]>> = {
    LISTING: [t('Looking for documents'), 'accent'],
    INDEXING: [t('Indexing'), 'accent'],
    COMPLETED: entry.failedCount > 0 ? [t('Done, with failures'), 'warn'] : [t('Done'), 'good'],
    FAILED: [t('Failed'), 'bad'],
    CANCELLED: [t('Stopped'), 'warn'],
  };
  const [label, tone] = states[entry.status];
  const bounds = {
    MAX_PAGES: t('It stopped at the page limit.'),
    TIMEOUT: t('It stopped at the time limit.'),
    MAX_MEMORY: t('It stopped at the memory limit.'),
  };
  const note = useReadingFailures()(entry) ?? (entry.bound === null ? undefined : bounds[entry.bound]);
  const { addedCount, changedCount, unchangedCount, removedCount, failedCount } = entry;
  return (
    <tr>
      <td className={knowledge.nowrap}>
        <Time at={entry.startedAt} />
      </td>
      <td>{triggers[entry.trigger]}</td>
      <td>
        <Badge tone={tone}>{label}</Badge>
        {note === undefined ? null : <small className={knowledge.note}>{note}</small>}
      </td>
      {Object.entries({ addedCount, changedCount, unchangedCount, removedCount, failedCount }).map(([name, count]) => (
        <td key={name} className={knowledge.number}>
          {number(count)}
        </td>
      ))}
      <td className={knowledge.number}>{formatMs(entry.durationMs, number)}</td>
    </tr>
  );
}
