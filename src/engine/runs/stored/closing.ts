import type {
  RunError,
  RunEvent,
  RunEventBody,
  RunItem,
  RunSnapshot,
  ServerCallItem,
  Subagent,
} from '../../../entities/conversations/runs/event.ts';
import { type IdKind, idPrefixes } from '../../../entities/ground/ids.ts';
import type { LeasedRun } from '../../../storage/conversations/runs/runs.ts';
import type { CallError } from '../calls/open-call.ts';
import { stoppedCall } from '../calls/server-calls.ts';
import { makeUnknownOutcome, unknownOutcome, unknownOutcomeText } from '../calls/unknown-outcome.ts';
import { snapshot } from '../control/ending.ts';
import type { RunFold } from '../events/fold.ts';
import { stoppedSummary } from '../events/subagent-records.ts';
import type { Leftover } from './leftover.ts';
import { readStoredRequest } from './request.ts';

type MessageItem = Extract<RunItem, { readonly type: 'message' }>;

/** Why a run is ended by a process that does not work on it. `cut`: by thread mode force; its output is removed from the thread. */
export type Closing = 'cancelled' | 'cut' | RunError;

export const interrupted: RunError = {
  code: 'SERVER_ERROR',
  message: 'The answer was interrupted and could not be continued',
};
export const secretsLost: RunError = {
  code: 'SERVER_ERROR',
  message: 'The process that had the secrets of this request ended before it could be answered; send it again',
};
export const keyRevoked: RunError = {
  code: 'INVALID_API_KEY',
  message: 'The API key that began this was revoked, or its user left the organization',
};

/** A run that was started or continued this often is ended: it probably kills its processes. */
const attemptsMax = 3;

/**
 * Why a run that was taken over is ended instead of restarted or continued; undefined when it is not ended.
 *
 * @param hasSecretsHere  whether this process has the secrets of its caller.
 */
export function closingFor(run: LeasedRun, leftover: Leftover, hasSecretsHere: boolean): Closing | undefined {
  if (run.isKeyRevoked && !run.isCancelRequested) return keyRevoked;
  const hasSecrets = readStoredRequest(run).needsSecrets === true;
  const needsSecrets = hasSecrets && !hasSecretsHere;
  // In the log, the arguments of calls have no secrets: such a call cannot be made again.
  const mayGoOn = leftover.kind === 'unsaid' ? !needsSecrets : leftover.kind === 'between' && !hasSecrets;
  if (mayGoOn && run.attempt <= attemptsMax) return undefined;
  if (run.isCancelRequested) return 'cancelled';
  if (leftover.kind === 'unknown') {
    const { code, message } = makeUnknownOutcome(leftover.call.name);
    return { code, message };
  }
  return needsSecrets && leftover.kind === 'unsaid' ? secretsLost : interrupted;
}

/**
 * The events that end a run in place of its worker: what it said is closed as incomplete and kept. If a tool call may have been
 * carried out, its output and a message for people say so.
 */
export function listClosingEvents(fold: RunFold, runId: string, why: Closing): readonly RunEvent[] {
  const bodies: RunEventBody[] = [];
  let run: RunSnapshot;
  if (fold.lastSequence < 0) {
    run = snapshot(runId, 'in_progress', []);
    bodies.push({ type: 'response.created', run });
  } else run = fold.snapshot();
  const isUnknown = fold.lostCallRule === 'unknown';
  const lossError = isUnknown ? unknownOutcome : stoppedCall;
  const output = run.output.map((item) => (item.status === 'in_progress' ? cut(item, lossError) : item));
  for (const [outputIndex, item] of output.entries()) {
    if (run.output[outputIndex] !== item) bodies.push(...closing(outputIndex, item, fold.openSubagents));
  }
  const last = output.at(-1);
  if (last?.type === 'server_tool_call' && run.output.at(-1)?.status === 'in_progress') {
    if (last.form === undefined) {
      const item = stoppedOutput(last, lossError);
      bodies.push({ type: 'response.output_item.added', outputIndex: output.length, item });
      bodies.push({ type: 'response.output_item.done', outputIndex: output.length, item });
      output.push(item);
    }
    if (isUnknown) {
      const note = writeNote(last);
      bodies.push(...saying(output.length, note));
      output.push(note);
    }
  }
  const endedRun = { ...run, output, usage: fold.usage };
  if (why === 'cancelled') bodies.push({ type: 'response.incomplete', run: { ...endedRun, status: 'cancelled' } });
  else if (why === 'cut') bodies.push({ type: 'response.incomplete', run: { ...endedRun, status: 'cancelled', isCut: true } });
  else bodies.push({ type: 'response.failed', run: { ...endedRun, status: 'failed', error: why } });
  return bodies.map((body, index) => ({ sequence: fold.lastSequence + 1 + index, ...body }));
}

/** @param lost  the error of a call. Calls with an item of their own format hold their result. */
function cut(item: RunItem, lossError: CallError): RunItem {
  if (item.type === 'server_tool_call' && item.form !== undefined) {
    return { ...item, status: 'failed', result: { output: '', error: lossError } };
  }
  if (item.type === 'server_tool_call' || item.type === 'server_tool_call_output') return { ...item, status: 'failed' };
  // Listings are whole from the beginning.
  return item.type === 'mcp_list_tools' ? item : { ...item, status: 'incomplete' };
}

function closing(outputIndex: number, item: RunItem, subagents: readonly Subagent[]): RunEventBody[] {
  const doneEvent: RunEventBody = { type: 'response.output_item.done', outputIndex, item };
  if (item.type === 'message') {
    const { id: itemId, text, citations } = item;
    return [
      { type: 'response.output_text.done', outputIndex, itemId, text },
      { type: 'response.content_part.done', outputIndex, itemId, text, citations },
      doneEvent,
    ];
  }
  if (item.type === 'function_call') {
    const { id: itemId, name, arguments: args } = item;
    return [{ type: 'response.function_call_arguments.done', outputIndex, itemId, name, arguments: args }, doneEvent];
  }
  if (item.type === 'server_tool_call') {
    const { id: itemId } = item;
    return [
      ...subagents.map(
        (subagent): RunEventBody => ({
          type: 'response.subagent.completed',
          outputIndex,
          itemId,
          subagent: { ...subagent, status: 'cancelled', summary: stoppedSummary, usage: null },
        }),
      ),
      { type: 'response.server_tool_call.failed', outputIndex, itemId },
      doneEvent,
    ];
  }
  return [doneEvent];
}

/** Every call gets an output. Its id follows from the call's id, so taking the run over twice does no harm. */
function stoppedOutput({ id, callId }: ServerCallItem, error: CallError): RunItem {
  return { type: 'server_tool_call_output', id: idLike(id, 'serverToolOutput'), status: 'failed', callId, output: '', error };
}

/** Its id follows from the call's id, for the same reason. */
function writeNote({ id, name }: ServerCallItem): MessageItem {
  return { type: 'message', id: idLike(id, 'message'), status: 'incomplete', text: unknownOutcomeText(name), citations: [] };
}

function idLike(id: string, kind: IdKind): string {
  return `${idPrefixes[kind]}${id.slice(id.indexOf('_'))}`;
}

/** The events of a message, from its beginning to its end. */
function saying(outputIndex: number, item: MessageItem): readonly RunEventBody[] {
  const { id: itemId, text, citations } = item;
  return [
    { type: 'response.output_item.added', outputIndex, item: { ...item, status: 'in_progress', text: '' } },
    { type: 'response.content_part.added', outputIndex, itemId },
    { type: 'response.output_text.delta', outputIndex, itemId, json: JSON.stringify(text) },
    { type: 'response.output_text.done', outputIndex, itemId, text },
    { type: 'response.content_part.done', outputIndex, itemId, text, citations },
    { type: 'response.output_item.done', outputIndex, item },
  ];
}
