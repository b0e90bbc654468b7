import { useText } from '../../text/text.ts';
import type { Tone } from '../../ui/feedback.tsx';
import type { DataSourceType, IndexStatus, RefreshPeriod, SourceEntryFragment } from './documents.ts';
import { kinds } from './kinds.ts';

export interface StateWord {
  readonly label: string;
  readonly tone: Tone;
  readonly isBusy: boolean;
}

/** Names of kinds, states and times in the language of the reader. */
export function useWords() {
  const { t } = useText();
  const nameKind = (type: DataSourceType) => kinds[type].name(t);
  const periods: Readonly<Record<RefreshPeriod, string>> = {
    NEVER: t('Only when asked'),
    DAILY: t('Every day'),
    WEEKLY: t('Every week'),
    MONTHLY: t('Every 30 days'),
  };
  const states: Readonly<Record<IndexStatus, StateWord>> = {
    INITIALIZED: { label: t('Waiting'), tone: 'neutral', isBusy: true },
    QUEUED: { label: t('Waiting'), tone: 'neutral', isBusy: true },
    FETCHING: { label: t('Reading'), tone: 'accent', isBusy: true },
    PARSING: { label: t('Reading'), tone: 'accent', isBusy: true },
    INDEXING: { label: t('Indexing'), tone: 'accent', isBusy: true },
    INDEXED: { label: t('Ready'), tone: 'good', isBusy: false },
    FAILED: { label: t('Failed'), tone: 'bad', isBusy: false },
    SKIPPED: { label: t('Left out'), tone: 'warn', isBusy: false },
    CANCELLED: { label: t('Stopped'), tone: 'warn', isBusy: false },
    DELETING: { label: t('Being deleted'), tone: 'neutral', isBusy: true },
  };
  const describeState = ({ indexStatus, statistics, errorCode }: StatedSource): StateWord => {
    const isFlawed = indexStatus === 'INDEXED' && (statistics.failedCount > 0 || errorCode !== null);
    return isFlawed ? { label: t('Ready, with failures'), tone: 'warn', isBusy: false } : states[indexStatus];
  };
  return { nameKind, periods, states, describeState };
}

export type StatedSource = Pick<SourceEntryFragment, 'indexStatus' | 'errorCode'> & {
  readonly statistics: Pick<SourceEntryFragment['statistics'], 'failedCount'>;
};
