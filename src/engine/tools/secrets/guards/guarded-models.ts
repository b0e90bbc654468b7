import { readLiteral, writeLiteral } from '../../../../lib/json/string-literal.ts';
import type { ModelDelta, ModelMessage, ModelRequest } from '../../../models/port.ts';
import type { ModelRouter } from '../../../models/router.ts';
import type { TextStream } from '../masking.ts';
import type { GuardSession } from './session.ts';

/** The models as a run with a guard asks them: no value reaches a provider, and where values are put back, answers and calls have them. */
export function guardModels(models: ModelRouter, session: GuardSession, putsBack = session.guard.putsBack): ModelRouter {
  return {
    ...models,
    stream(request, signal) {
      const routed = models.stream(maskRequest(request, session), signal);
      return putsBack ? { selection: routed.selection, deltas: restore(routed.deltas, session) } : routed;
    },
  };
}

function maskRequest(request: ModelRequest, { mask }: GuardSession): ModelRequest {
  const messages = request.messages.map((message) => maskMessage(message, mask));
  return request.ending === undefined ? { ...request, messages } : { ...request, messages, ending: mask(request.ending) };
}

function maskMessage(message: ModelMessage, mask: (text: string) => string): ModelMessage {
  if (message.role === 'assistant') {
    const { content, toolCalls } = message;
    return {
      ...message,
      content: content === null ? null : mask(content),
      ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map((call) => ({ ...call, arguments: mask(call.arguments) })) }),
    };
  }
  if (message.role !== 'user' || typeof message.content === 'string')
    return { ...message, content: mask(String(message.content)) } as ModelMessage;
  return {
    ...message,
    content: message.content.map((part) => (part.type === 'text' ? { ...part, text: mask(part.text) } : part)),
  };
}

/** Each kind of text, and the arguments of each call, are texts of their own. */
async function* restore(
  source: AsyncIterable<readonly ModelDelta[]>,
  session: GuardSession,
): AsyncGenerator<readonly ModelDelta[]> {
  const open = new Map<string, { readonly stream: TextStream; readonly last: Extract<ModelDelta, { readonly json: string }> }>();
  /** What the others hold back leaves before something else begins. */
  const closeOthers = (key: string | undefined): readonly ModelDelta[] => {
    const rest: ModelDelta[] = [];
    for (const [other, { stream, last }] of open) {
      if (other === key) continue;
      const text = stream.flush();
      if (text !== '') rest.push({ ...last, json: writeLiteral(text) });
      open.delete(other);
    }
    return rest;
  };
  for await (const deltas of source) {
    const changed: ModelDelta[] = [];
    for (const delta of deltas) {
      if (!('json' in delta)) {
        if (closing.has(delta.type)) changed.push(...closeOthers(undefined));
        changed.push(delta);
        continue;
      }
      const key = delta.type === 'tool.arguments' ? `call ${delta.index}` : delta.type;
      // Calls may arrive in turns.
      if (delta.type !== 'tool.arguments') changed.push(...closeOthers(key));
      const stream = open.get(key)?.stream ?? session.restoring(delta.type === 'tool.arguments');
      open.set(key, { stream, last: delta });
      const text = stream.feed(readLiteral(delta.json));
      if (text !== '') changed.push({ ...delta, json: writeLiteral(text) });
    }
    if (changed.length > 0) yield changed;
  }
  const rest = closeOthers(undefined);
  if (rest.length > 0) yield rest;
}

const closing: ReadonlySet<ModelDelta['type']> = new Set<ModelDelta['type']>(['tool.start', 'thought', 'finish']);
