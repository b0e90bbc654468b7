import type { ModelQuestion } from '../../tools/subagents.ts';
import type { RunPlan } from '../run-engine.ts';
import type { TokenAllowance } from '../token-allowance.ts';
import type { SubagentParent } from './parent.ts';
import { lastMessage, spendingOf, workOff } from './work.ts';

/** Asks the model of a run one question, without tools and knowledge. @returns undefined when there is no whole answer. */
export async function askModel(
  { messages, responseFormat }: ModelQuestion,
  parent: SubagentParent,
  tokens: TokenAllowance,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { plan: own, deps, budget, runId } = parent;
  const { timeoutMs, outputTokensMax } = deps.subagents;
  const { stop: _stop, logprobs: _logprobs, maxTokens = outputTokensMax, ...parameters } = own.parameters;
  const plan: RunPlan = {
    ...{ modelId: own.modelId, messages, tools: [], onlyTools: [], responseFormat },
    parameters: { ...parameters, maxTokens: Math.min(maxTokens, outputTokensMax) },
    ...{ isStreaming: true, generateCitations: false, charge: own.charge },
  };
  const { ledger } = spendingOf(parent);
  const work = { timeoutMs, ledger, budget: budget.share(1, tokens), secrets: {}, keyPrefix: runId };
  const run = await workOff(plan, work, parent, signal, () => undefined);
  return run?.status === 'completed' ? lastMessage(run)?.text : undefined;
}
