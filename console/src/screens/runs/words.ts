import type { Text } from '../../text/text.ts';
import type { Tone } from '../../ui/feedback.tsx';
import type {
  FlowStepKind,
  IncompleteReason,
  RetrievalMode,
  RunFeedback,
  RunKind,
  RunStatus,
  RunStepStatus,
  UnansweredReason,
} from './documents.ts';

type T = Text['t'];

export const kindWords = (t: T): Readonly<Record<RunKind, string>> => ({
  CHAT: t('Chat'),
  RESPONSE: t('Response'),
  COMPLETION: t('Completion'),
  SEARCH: t('Search of knowledge'),
  EMBEDDING: t('Embedding'),
  PROFILE: t('Draft of a profile'),
  COMPACTION: t('Shortened conversation'),
});

export const statusWords = (t: T): Readonly<Record<RunStatus, string>> => ({
  IN_PROGRESS: t('Running'),
  COMPLETED: t('Completed'),
  FAILED: t('Failed'),
  INCOMPLETE: t('Cut off'),
  CANCELLED: t('Stopped'),
});

export const incompleteWords = (t: T): Readonly<Record<IncompleteReason, string>> => ({
  PAUSED: t('Paused'),
  TIMEOUT: t('Took too long'),
  MAX_OUTPUT_TOKENS: t('Answer too long'),
  MAX_TOOL_CALLS: t('Too many calls'),
  CONTENT_FILTER: t('Blocked by the provider'),
});

/** The state of a run, in one or two words. */
export function describeState(
  { status, incompleteReason }: { readonly status: RunStatus; readonly incompleteReason: IncompleteReason | null },
  t: T,
): { readonly tone: Tone; readonly word: string } {
  if (status === 'INCOMPLETE' && incompleteReason !== null) return { tone: 'warn', word: incompleteWords(t)[incompleteReason] };
  return { tone: tones[status], word: statusWords(t)[status] };
}

const tones: Readonly<Record<RunStatus, Tone>> = {
  IN_PROGRESS: 'accent',
  COMPLETED: 'good',
  FAILED: 'bad',
  INCOMPLETE: 'warn',
  CANCELLED: 'neutral',
};

export const stepWords = (t: T): Readonly<Record<RunStepStatus, string>> => ({
  IN_PROGRESS: t('Running'),
  COMPLETED: t('Completed'),
  FAILED: t('Failed'),
  CANCELLED: t('Stopped'),
  SKIPPED: t('Skipped'),
  AWAITED: t('Waits for the caller'),
});

export const flowWords = (t: T): Readonly<Record<FlowStepKind, string>> => ({
  BRANCH: t('Chooses what follows'),
  MODEL: t('Asks a model'),
  PROMPT: t('Adds to the instructions'),
  RETRIEVE: t('Searches knowledge'),
  TOOL: t('Calls a tool'),
});

export const modeWords = (t: T): Readonly<Record<RetrievalMode, string>> => ({
  HYBRID: t('by words and by meaning'),
  LEXICAL: t('by words alone'),
});

export const feedbackWords = (t: T): Readonly<Record<RunFeedback, string>> => ({
  ANY: t('Rated'),
  UP: t('Rated good'),
  DOWN: t('Rated bad'),
});

export const reasonWords = (t: T): Readonly<Record<UnansweredReason, string>> => ({
  NOTHING_FOUND: t('Nothing was found'),
  RATED_DOWN: t('Answer rated bad'),
});
