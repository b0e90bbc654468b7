import { listDocuments, listImages } from '../../engine/runs/events/transcript.ts';
import { findFailure } from '../../entities/conversations/runs/answer.ts';
import type { RunItem, RunSnapshot } from '../../entities/conversations/runs/event.ts';
import type { OutputFile } from '../../entities/conversations/runs/tool.ts';
import type { TaskState } from '../../entities/conversations/task.ts';
import { publicError } from '../../entities/ground/errors.ts';
import type { Warning } from '../../entities/ground/warning.ts';
import type { Citation } from '../../entities/knowledge/citation.ts';
import { toAnnotation } from '../completions/reply.ts';
import { statePrefix } from './params.ts';

/** The A2A protocol: a task, its states and its artifacts, made of the responses that it is. */

/** One response of a task, as it is now. */
export interface TaskTurn {
  readonly run: RunSnapshot;
  /** The response waits for another one of its thread. */
  readonly isWaiting: boolean;
  /** When it came into the state that it has. */
  readonly at: Date;
  readonly warnings: readonly Warning[];
  /** What its user said, in the form of the protocol; absent where nobody asks for it. */
  readonly messages?: readonly object[];
}

export interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

type Call = Extract<RunItem, { readonly type: 'function_call' }>;
type Message = Extract<RunItem, { readonly type: 'message' }>;

/** The state of a task whose last response is this. */
export function toTaskState({ status, incompleteReason, output }: RunSnapshot, isWaiting = false): TaskState {
  switch (status) {
    case 'in_progress':
      return isWaiting ? 'SUBMITTED' : 'WORKING';
    case 'failed':
      return 'FAILED';
    case 'cancelled':
      return 'CANCELED';
    case 'incomplete':
      return incompleteReason === 'paused' ? 'WORKING' : 'COMPLETED';
    case 'completed':
      return output.some(({ type }) => type === 'function_call') ? 'INPUT_REQUIRED' : 'COMPLETED';
  }
}

export interface ShownTask {
  /** The state of a task that was canceled while it waited; undefined: that of its last response. */
  readonly isCanceled: boolean;
  /** Most messages of its history, the newest; undefined: all. */
  readonly historyLength?: number | null | undefined;
  readonly hasArtifacts: boolean;
}

export function toTask(place: TaskPlace, turns: readonly TaskTurn[], shown: ShownTask): object {
  const { historyLength, hasArtifacts, isCanceled } = shown;
  const last = turns.at(-1);
  if (last === undefined) throw new Error('a task has a response');
  const history = historyLength === 0 ? [] : turns.flatMap(({ messages = [] }) => messages).slice(-(historyLength ?? 0));
  const warnings = turns.flatMap((turn) => turn.warnings);
  const { incompleteReason } = last.run;
  const metadata = {
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(incompleteReason === null ? {} : { incompleteReason }),
    ...toUsage(turns),
  };
  return {
    id: place.taskId,
    contextId: place.contextId,
    status: isCanceled
      ? { state: `${statePrefix}CANCELED`, timestamp: last.at.toISOString() }
      : toStatus(place, last.run, last.at, last.isWaiting),
    ...(hasArtifacts ? { artifacts: turns.flatMap(({ run }) => toArtifacts(run)) } : {}),
    ...(history.length === 0 ? {} : { history }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  };
}

/** What a task that asks for something, or has failed, says of it. */
export function toStatus({ taskId, contextId }: TaskPlace, run: RunSnapshot, at: Date, isWaiting = false): object {
  const state = toTaskState(run, isWaiting);
  const parts = state === 'INPUT_REQUIRED' ? listCalls(run).map(toCallPart) : toFailureParts(run);
  const message = { messageId: `${run.runId}_status`, contextId, taskId, role: 'ROLE_AGENT', parts };
  return { state: `${statePrefix}${state}`, ...(parts.length === 0 ? {} : { message }), timestamp: at.toISOString() };
}

function listCalls({ output }: RunSnapshot): readonly Call[] {
  return output.filter((item) => item.type === 'function_call');
}

/** What the client must answer: a call of a function of its own, or one of the service that waits for approval. */
function toCallPart({ id, callId, name, arguments: args, approval }: Call): object {
  const call = { kind: approval === true ? 'approval' : 'function', callId: approval === true ? id : callId, name };
  return { data: { ...call, arguments: args }, mediaType: 'application/json' };
}

function toFailureParts(run: RunSnapshot): readonly object[] {
  const failure = run.status === 'failed' ? findFailure(run) : undefined;
  if (failure === undefined) return [];
  const { message, code } = publicError(failure);
  return [{ text: message, metadata: { code: code.toLowerCase() } }];
}

export function toArtifacts({ output }: RunSnapshot): readonly object[] {
  const texts = output.flatMap((item) => (item.type === 'message' && item.text !== '' ? [toTextArtifact(item)] : []));
  return [...texts, ...toFileArtifacts(output)];
}

export function toFileArtifacts(output: readonly RunItem[]): readonly object[] {
  return [...listImages(output), ...listDocuments(output)].map(toFileArtifact);
}

function toTextArtifact({ id, text, citations }: Message): object {
  return { artifactId: id, name: answerName, parts: [{ text }, ...toCitationParts(citations)] };
}

export const answerName = 'answer';

/** What an answer cites, as a part of data behind its text. */
export function toCitationParts(citations: readonly Citation[]): readonly object[] {
  if (citations.length === 0) return [];
  return [{ data: { citations: citations.map((one) => toAnnotation(one).url_citation) }, mediaType: 'application/json' }];
}

function toFileArtifact({ fileId, filename, mimeType, url }: OutputFile, index: number): object {
  return { artifactId: fileId ?? `file_${index}`, name: filename, parts: [{ url, filename, mediaType: mimeType }] };
}

function toUsage(turns: readonly TaskTurn[]): object {
  const usages = turns.flatMap(({ run }) => run.usage ?? []);
  if (usages.length === 0) return {};
  const sum = (name: 'inputTokens' | 'outputTokens') => usages.reduce((total, usage) => total + usage[name], 0);
  return { usage: { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') } };
}
