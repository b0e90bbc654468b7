import type { Text } from '../../../../text/text.ts';
import type { Tone } from '../../../../ui/feedback.tsx';
import type { IndexStatus } from './documents.ts';

/** What a source is doing, in words. */
export function stateName(t: Text['t'], status: IndexStatus): string {
  return {
    CANCELLED: t('Cancelled'),
    DELETING: t('Being removed'),
    FAILED: t('Failed'),
    FETCHING: t('Being read'),
    INDEXED: t('Ready'),
    INDEXING: t('Being indexed'),
    INITIALIZED: t('New'),
    PARSING: t('Being read'),
    QUEUED: t('Waiting'),
    SKIPPED: t('Nothing to index'),
  }[status];
}

export function stateTone(status: IndexStatus): Tone {
  if (status === 'INDEXED') return 'good';
  if (status === 'FAILED') return 'bad';
  return status === 'CANCELLED' || status === 'SKIPPED' ? 'warn' : 'accent';
}
