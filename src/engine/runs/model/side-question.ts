import type { ModelRequest } from '../../models/port.ts';
import type { Charge } from '../../plan/plan.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import { readTurnText } from '../events/history.ts';
import { RunOutput } from '../output/output.ts';
import { ModelCall } from './model-call.ts';

/** What the service asks a model beside a run. */
export interface SideQuestion {
  readonly modelId: string;
  readonly task: string;
  readonly content: string;
  readonly answerTokensMax: number;
  readonly answerMaxChars: number;
  readonly timeoutMs: number;
}

/**
 * Asks a model one question, without tools and without a stream.
 *
 * @returns its answer; undefined when it refuses, or does not come to an end within its bounds.
 * @throws ModelError; DomainError as UsageLimits.reserve; the reason of `signal`, or of the timeout.
 *
 * Cost: one model call, charged as a call of the run.
 */
export async function askSideQuestion(
  { modelId, task, content, answerTokensMax, answerMaxChars, timeoutMs }: SideQuestion,
  { models, ledger, limits, newId }: Pick<LoopDeps, 'models' | 'ledger' | 'limits' | 'newId'>,
  charge: Charge,
  signal: AbortSignal,
): Promise<string | undefined> {
  const request: ModelRequest = {
    model: modelId,
    messages: [
      { role: 'system', content: task },
      { role: 'user', content },
    ],
    tools: [],
    parameters: { maxTokens: answerTokensMax },
    isStreaming: false,
  };
  const hold = await limits.reserve({ charge, kind: 'api', modelId }, () => ({
    input: Math.ceil(content.length / 4),
    outputMax: answerTokensMax,
  }));
  const boundedSignal = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const call = new ModelCall(request);
  const output = new RunOutput(newId, 0, [], answerMaxChars);
  try {
    for await (const deltas of call.start(models, boundedSignal)) call.take(deltas, output, new Map());
  } finally {
    const usage = call.usage(boundedSignal.aborted);
    if (usage !== undefined) ledger.note(charge, 'run', call.answeringModel ?? modelId, usage);
    hold.release();
  }
  if (!call.isAnswer) return undefined;
  output.close('completed');
  return readTurnText(output.items) ?? '';
}
