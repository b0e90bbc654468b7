import type { Warning } from '../../../entities/ground/warning.ts';
import type { ModelRequest } from '../port.ts';
import { lacksThoughts } from '../thoughts.ts';
import type { FittedRequest } from './prompt.ts';

/** What decides how a model of Anthropic is asked to think. */
export interface ThinkingModel {
  /** It decides by itself how long it thinks, within the tokens of the answer. */
  readonly isAdaptive: boolean;
  /** Most tokens of an answer; undefined for a name that is not known. */
  readonly outputTokensMax: number | undefined;
}

/** Anthropic takes no smaller budget. */
const budgetTokensMin = 1_024;
/** What is left for the answer at least. */
const answerTokensMin = 256;
/** The part of the cap that a model may think with. */
const budgetShares = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.9, max: 0.95 } as const;

const askForJson = 'Answer with one JSON object and nothing else: no text and no code fence before or behind it.';

/** Changes a request to what Anthropic takes, and tells what of it has no effect. */
export function fitAnthropic(request: ModelRequest, model: ThinkingModel, cacheLife: FittedRequest['cacheLife']): FittedRequest {
  return { ...withThinking(withJson(request), model), cacheLife };
}

/** There is no JSON without a schema on these wires, so the instructions ask for it. */
export function withJson(request: ModelRequest): ModelRequest {
  const { responseFormat, ...rest } = request;
  if (responseFormat?.type !== 'json_object') return request;
  return { ...rest, messages: [{ role: 'system', content: askForJson }, ...request.messages] };
}

/**
 * A cap holds thinking and answer together, as in the common formats. On this wire a budget for thinking is a part of the cap too, but the SDK adds
 * it to the cap that it gets: so it gets the cap without the budget.
 */
function withThinking(request: ModelRequest, { isAdaptive, outputTokensMax }: ThinkingModel): FittedRequest {
  const { maxTokens, reasoningEffort: effort, thinkingTokens: askedTokens, ...parameters } = request.parameters;
  if (isAdaptive || effort === undefined || effort === 'none') return { request, warnings: [] };
  if (lacksThoughts(request.messages)) {
    const unthinking = { ...parameters, reasoningEffort: 'none' as const, ...(maxTokens === undefined ? {} : { maxTokens }) };
    return { request: { ...request, parameters: unthinking }, warnings: [withoutThoughts] };
  }
  if (maxTokens === undefined) return { request, warnings: [] };
  const cap = Math.min(maxTokens, outputTokensMax ?? maxTokens);
  if (cap < budgetTokensMin + answerTokensMin) {
    return { request: { ...request, parameters: { ...parameters, maxTokens } }, warnings: [tooSmall(cap)] };
  }
  const budgetTokens = Math.max(budgetTokensMin, askedTokens ?? Math.round(cap * budgetShares[effort]));
  const thinkingTokens = Math.min(budgetTokens, cap - answerTokensMin);
  return {
    request: { ...request, parameters: { ...parameters, maxTokens: cap - thinkingTokens } },
    thinkingTokens,
    warnings: [],
  };
}

/** A model with a budget thinks on only where it is given back what it thought before the calls. */
const withoutThoughts: Warning = {
  code: 'option_not_supported',
  message:
    'reasoning_effort has no effect until the next message of the user: the tool calls come without the thoughts of this model, which it demands to think on',
  param: 'reasoning_effort',
};

function tooSmall(cap: number): Warning {
  const least = budgetTokensMin + answerTokensMin;
  return {
    code: 'option_not_supported',
    message: `reasoning_effort has no effect: an answer of at most ${cap} tokens leaves no room to think; this model needs ${least}`,
    param: 'reasoning_effort',
  };
}
