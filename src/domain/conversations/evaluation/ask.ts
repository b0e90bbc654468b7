import type { ModelMessage } from '../../../engine/models/port.ts';
import { writePromptFile } from '../../../engine/models/prompts/files.ts';
import type { RunPlan } from '../../../engine/plan/plan.ts';
import { RunFold } from '../../../engine/runs/events/fold.ts';
import { withMessages } from '../../../engine/runs/stored/request.ts';
import { computeCost, toDecimal } from '../../../engine/usage/cost.ts';
import type { TokenAllowance } from '../../../engine/usage/token-allowance.ts';
import type { CaseContent } from '../../../entities/conversations/evaluation/dataset.ts';
import type { ScoredAnswer, Variant } from '../../../entities/conversations/evaluation/experiment.ts';
import { findFailure, findRefusal, listCitations, readAnswerText } from '../../../entities/conversations/runs/answer.ts';
import type { RunItem, RunSnapshot } from '../../../entities/conversations/runs/event.ts';
import type { Usage } from '../../../entities/conversations/runs/usage.ts';
import type { DomainError } from '../../../entities/ground/errors.ts';
import type { Caller } from '../../../entities/people/caller.ts';
import { findModelId } from '../../agents/agents.ts';
import { missingModel } from '../../agents/models.ts';
import { readUserInputs } from '../../agents/parts/user-input.ts';
import type { Deps } from '../../deps.ts';
import { chargeTo } from '../../ground/charges.ts';
import { Faults } from '../../ground/faults.ts';
import { admitAnswerer, plainRequest, planRun } from '../runs/plan.ts';
import { findVariantAgent } from './variants.ts';

/** How the questions of an experiment are asked. */
export interface AskTerms {
  readonly caller: Caller;
  readonly agentId: string;
  /** Tools that change something are called. */
  readonly callsTools: boolean;
  /** What all its runs may use together. */
  readonly allowance: TokenAllowance;
}

export interface Asked {
  readonly answer: ScoredAnswer;
  /** Why there is no answer; undefined when there is one. */
  readonly failure: DomainError | undefined;
}

/**
 * Asks a variant of an agent the question of a case, as a run that is not stored.
 *
 * @throws DomainError while nothing was answered: the agent or the model is gone, a user input is missing, or the run was refused.
 */
export async function askCase(
  deps: Deps,
  { caller, agentId, callsTools, allowance }: AskTerms,
  variant: Variant,
  content: CaseContent,
  signal: AbortSignal,
): Promise<Asked> {
  const agent = await findVariantAgent(deps, caller, agentId, variant);
  const modelId = variant.modelId ?? findModelId(deps, agent);
  const model = await deps.models.find(modelId);
  if (model === undefined) throw missingModel(modelId);
  const faults = new Faults();
  const userInputs = readUserInputs(agent.userInputs, content.userInputs, faults);
  faults.throwIfAny();
  const answerer = await admitAnswerer(deps, caller, plainRequest, { agent, model, userInputs });
  const subject = { question: content.question, date: deps.now(), inputTokensMax: agent.options.maxInputTokens?.[0] };
  const planned = withMessages(planRun(deps, caller, plainRequest, answerer, subject), toMessages(deps, content));
  const plan: RunPlan = {
    ...planned,
    modelId: model.id,
    isStreaming: false,
    // Whoever reads the answers edits the agent.
    hidesSteps: false,
    hidesOutputs: false,
    replay: { calls: content.recordedCalls, callsEffects: callsTools },
    charge: chargeTo(caller, { agentId: agent.id, agentVersion: agent.version, runId: deps.newId('completion') }),
  };
  const startedMs = performance.now();
  const fold = new RunFold();
  for await (const batch of deps.runs.runStateless(plan, signal, {}, allowance).batches()) fold.add(batch);
  const run = fold.snapshot();
  return { answer: toAnswer(deps, run, model.id, Math.round(performance.now() - startedMs)), failure: findFailure(run) };
}

function toMessages({ settings }: Deps, { messages, question, files }: CaseContent): readonly ModelMessage[] {
  const blocks = files.map(({ filename, text }) => writePromptFile({ name: filename, text }, settings.CHAT_FILE_TOKENS_MAX));
  return [...messages, { role: 'user', content: [...blocks, question].join('\n\n') }];
}

function toAnswer(deps: Deps, run: RunSnapshot, modelId: string, durationMs: number): ScoredAnswer {
  const { output, usage } = run;
  return {
    text: readAnswerText(output),
    isRefusal: findRefusal(output) !== undefined,
    citations: listCitations(output).map(({ knowledgeItemId: itemId, dataSourceId, name }) => ({ itemId, dataSourceId, name })),
    calls: output.flatMap(toCall),
    durationMs,
    tokens: usage === null ? 0 : usage.inputTokens + usage.outputTokens,
    cost: usage === null ? null : costOf(deps, modelId, usage),
  };
}

function toCall(item: RunItem): ScoredAnswer['calls'] {
  return item.type === 'server_tool_call' || item.type === 'function_call'
    ? [{ name: item.name, arguments: item.arguments }]
    : [];
}

/** In the currency of the models file; null for a model without a price. */
export function costOf({ models }: Pick<Deps, 'models'>, modelId: string, usage: Usage): number | null {
  const cost = computeCost(models.priceOf(modelId), usage);
  return cost === null ? null : Number(toDecimal(cost));
}
