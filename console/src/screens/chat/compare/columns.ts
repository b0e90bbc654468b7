import type { Chat_BesideRunFragment, Chat_HeadFragment, Chat_MessageFragment } from '../documents.ts';
import type { Row } from '../transcript/rows.ts';

/** One of the answers that stand beside each other. */
export interface AnswerColumn {
  readonly key: string;
  readonly runId: string;
  readonly isRunning: boolean;
  readonly agentId: string | undefined;
  readonly name: string;
  readonly pictureUrl: string | null | undefined;
  /** The model that was asked for. */
  readonly modelId: string;
  /** The model that answered, else the same. */
  readonly model: string;
  readonly messages: readonly Chat_MessageFragment[];
  readonly status: Chat_BesideRunFragment['status'];
  readonly incompleteReason: Chat_BesideRunFragment['incompleteReason'];
  readonly error: Chat_BesideRunFragment['error'];
  readonly durationMs: number | null;
  readonly cost: number | null;
  readonly usage: Chat_BesideRunFragment['usage'];
}

/** The answer of the active branch, then the others in the order in which they began. */
export function listColumns(
  { main, runs }: Extract<Row, { readonly kind: 'comparison' }>,
  chat: Chat_HeadFragment,
): readonly AnswerColumn[] {
  const others = runs.map((run) => toColumn(run, chat, run.messages, run.status === 'IN_PROGRESS'));
  if (main?.runId === undefined) return others;
  const run = main.messages.at(-1)?.run ?? { ...unknownRun, id: main.runId, modelId: chat.agent?.modelId ?? chat.modelId ?? '' };
  return [toColumn(run, chat, main.messages, main.isRunning), ...others];
}

type ColumnRun = Omit<Chat_BesideRunFragment, '__typename' | 'messages'>;

/** A run that is being followed has told nothing of itself yet. */
const unknownRun: Omit<ColumnRun, 'id' | 'modelId'> = {
  ...{ status: 'IN_PROGRESS', incompleteReason: null, error: null, agent: null },
  ...{ answeredModelId: null, durationMs: null, cost: null, usage: null },
};

function toColumn(
  run: ColumnRun,
  chat: Chat_HeadFragment,
  messages: readonly Chat_MessageFragment[],
  isRunning: boolean,
): AnswerColumn {
  const agent = run.agent ?? chat.agent;
  const { id, status, incompleteReason, error, durationMs, cost, usage } = run;
  const modelId = run.modelId ?? '';
  return {
    ...{ key: id, runId: id, isRunning, messages, status, incompleteReason, error, durationMs, cost, usage, modelId },
    ...{ agentId: agent?.id, name: agent?.name ?? modelId, pictureUrl: agent?.pictureUrl },
    model: run.answeredModelId ?? modelId,
  };
}
