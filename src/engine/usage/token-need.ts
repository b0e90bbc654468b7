import type { ModelRequest } from '../models/port.ts';
import type { Charge } from '../plan/plan.ts';
import type { MeteredCall } from './limits.ts';
import type { TokenNeed } from './meters.ts';

/** Assumed length of an answer without a limit. */
const outputTokensHeld = 4_096;
/** Fewer bytes than most texts have for a token, so that a hold is rarely too small. */
const bytesPerToken = 3;
const messageTokens = 8;
const imageTokens = 1_000;

/** An upper estimate of a request's tokens. */
export function estimateNeed(request: ModelRequest): TokenNeed {
  let bytes = request.ending === undefined ? 0 : Buffer.byteLength(request.ending);
  let tokens = 0;
  for (const message of request.messages) {
    tokens += messageTokens;
    const { content } = message;
    if (typeof content === 'string') bytes += Buffer.byteLength(content);
    else if (content !== null) {
      for (const part of content) {
        if (part.type === 'text') bytes += Buffer.byteLength(part.text);
        else tokens += imageTokens;
      }
    }
    if (message.role === 'assistant') {
      for (const call of message.toolCalls ?? []) bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
    }
  }
  for (const { name, description, parameters } of request.tools) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(description) + Buffer.byteLength(JSON.stringify(parameters));
  }
  return { input: tokens + Math.ceil(bytes / bytesPerToken), outputMax: request.parameters.maxTokens ?? outputTokensHeld };
}

/** The request, limited to an answer of `outputMax` tokens when less is left than it asked for. */
export function within(request: ModelRequest, outputMax: number | undefined): ModelRequest {
  if (outputMax === undefined) return request;
  return { ...request, parameters: { ...request.parameters, maxTokens: outputMax } };
}

/** A request to a model of a run, as limits see it. */
export function meteredCall(charge: Charge, { model, routing }: ModelRequest): MeteredCall {
  return { charge, kind: 'api', modelId: model, routing };
}
