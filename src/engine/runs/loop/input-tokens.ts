import type { ModelMessage, ModelRequest } from '../../models/port.ts';
import { withEnding } from '../../models/prompts/ending.ts';
import { endingWithPassages } from '../../models/prompts/passages.ts';
import { estimateTokens } from '../../models/tokens.ts';
import type { RunPlan } from '../../plan/plan.ts';
import { RunBudget } from '../../usage/budget.ts';
import { RunTools } from '../calls/run-tools.ts';
import { createToolRun } from '../calls/tool-run.ts';
import type { LoopDeps } from '../control/loop-deps.ts';
import { makeRequest } from '../model/model-request.ts';
import { findPassages } from '../model/passages.ts';
import { CitablePassages } from '../output/citable.ts';
import { RunOutput } from '../output/output.ts';
import { RunRecorder } from '../record/recorder.ts';
import { subagentsOfRun } from '../subagents/subagents-of-run.ts';
import { runLoop } from './loop.ts';

/** What most models take for the frame of a message, of a tool and of an image. */
const messageTokens = 4;
const toolTokens = 8;
const imageTokens = 1_000;

/**
 * The tokens of the first request that a run would send to its model: messages, tools, passages of its knowledge. An estimate: the
 * tokenizers of all models are not known (knowledge/index/tokens.ts). No model is asked.
 */
export async function countInputTokens(plan: RunPlan, deps: LoopDeps, signal: AbortSignal): Promise<number> {
  const runId = plan.charge.runId ?? '';
  const start = { runId, firstSequence: 0, isEager: false, secrets: {} };
  const budget = new RunBudget({ roundsMax: deps.roundsMax });
  const recorder = new RunRecorder(deps);
  const subagents = subagentsOfRun({ plan, deps, start, budget, recorder, run: runLoop, spent: () => undefined });
  const tools = new RunTools(plan, deps);
  if (tools.mustOpen)
    await tools.open(createToolRun({ plan, deps, start, subagents, cite: () => 1, charged, files: deps.filesOf(plan) }, signal));
  let { ending } = plan;
  if (plan.knowledge !== undefined && plan.knowledge.question !== '') {
    const output = new RunOutput(deps.newId, 0, [], deps.answerCharsMax);
    const citable = new CitablePassages([], plan.generateCitations, output, false);
    const passages = await findPassages(plan, deps, citable, output, runId, signal);
    ending = endingWithPassages(ending, passages, plan.generateCitations);
  }
  return countTokens(makeRequest(plan, tools, plan.messages, ending, { mustAnswer: false, hasCalled: false }));
}

/** Counting calls no tool. */
function charged(): Promise<never> {
  return Promise.reject(new Error('a count of tokens makes no upstream call'));
}

function countTokens(request: ModelRequest): number {
  const { tools, responseFormat } = request;
  let tokens = 0;
  for (const message of withEnding(request)) tokens += messageTokens + tokensOfMessage(message);
  for (const { name, description, parameters } of tools) {
    tokens += toolTokens + estimateTokens(name) + estimateTokens(description) + estimateTokens(JSON.stringify(parameters));
  }
  if (responseFormat?.type === 'json_schema') tokens += toolTokens + estimateTokens(JSON.stringify(responseFormat.schema));
  return Math.ceil(tokens);
}

function tokensOfMessage(message: ModelMessage): number {
  const { content } = message;
  let tokens = 0;
  if (typeof content === 'string') tokens += estimateTokens(content);
  else for (const part of content ?? []) tokens += part.type === 'text' ? estimateTokens(part.text) : imageTokens;
  if (message.role === 'assistant') {
    for (const { name, arguments: argumentText } of message.toolCalls ?? []) {
      tokens += toolTokens + estimateTokens(name) + estimateTokens(argumentText);
    }
  }
  return tokens;
}
