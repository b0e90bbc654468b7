import type { Text } from '../../../../text/text.ts';
import type { Tone } from '../../../../ui/feedback.tsx';
import { draftName, versionTitle } from '../versions/words.ts';
import type { ExperimentRowFragment } from './documents.ts';

type Variant = ExperimentRowFragment['variants'][number];
type Status = ExperimentRowFragment['status'];
type Comparison = NonNullable<ExperimentRowFragment['summary']>['comparisons'][number];

export const evaluationAddress = (agentId: string, part = '') => `/agents/${agentId}/evaluation${part === '' ? '' : `/${part}`}`;

/** Who is asked: a version, and the model where it is not the agent's. */
export function variantTitle(t: Text['t'], { version, modelId }: Variant): string {
  const title = version === draftName ? t('The draft') : versionTitle(t, version);
  return modelId === null ? title : t('{version} with {model}', { version: title, model: modelId });
}

export function describeStatus(t: Text['t'], status: Status): { readonly word: string; readonly tone: Tone } {
  return {
    WAITING: { word: t('Waits'), tone: 'neutral' },
    RUNNING: { word: t('Under way'), tone: 'accent' },
    DONE: { word: t('Done'), tone: 'good' },
    CANCELLED: { word: t('Cancelled'), tone: 'neutral' },
    STOPPED: { word: t('Stopped: the budget is used up'), tone: 'warn' },
    FAILED: { word: t('Failed'), tone: 'bad' },
  }[status] as { readonly word: string; readonly tone: Tone };
}

/** What a comparison says, in a sentence. */
export function describeComparison(t: Text['t'], { verdict, better, worse, same }: Comparison): string {
  const counts = { better, worse, same };
  return {
    BETTER: t('Better: {better} cases better, {worse} worse, {same} the same.', counts),
    WORSE: t('Worse: {better} cases better, {worse} worse, {same} the same.', counts),
    SAME: t('No case differs ({same} the same).', counts),
    NOT_ENOUGH_CASES: t('Not enough cases to tell: {better} better, {worse} worse, {same} the same.', counts),
  }[verdict];
}

export function formatRate(value: number, number: Text['number']): string {
  return number(value, { style: 'percent', maximumFractionDigits: 1 });
}

/** Ends of an experiment after which nothing happens by itself. */
export const isUnderWay = (status: Status) => status === 'WAITING' || status === 'RUNNING';
