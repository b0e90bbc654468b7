import type { Response } from 'express';
import { keyEnded, watchKey } from '../domain/accounts/api-keys.ts';
import type { CallContext } from '../http/context.ts';
import type { SseStreams } from '../http/reply/sse.ts';

/** Changes that come within this time are told at once. */
const gatherMs = 1_000;
const lists = ['tools', 'resources', 'prompts'] as const;
const changed = lists
  .map((list) => `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: `notifications/${list}/list_changed` })}\n\n`)
  .join('');

/**
 * Keeps the stream of a client open and tells it when agents have changed. Which agents is not looked up: the client lists them again, and
 * gets those that its key may use. Ends with the key.
 */
export function listen(context: CallContext, res: Response, streams: SseStreams): Promise<void> {
  const { deps, caller, requestId, signal } = context;
  const stream = streams.start(res, requestId, []);
  stream.flush();
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void stream.write(changed);
    }, gatherMs).unref();
  };
  const { signals } = deps.storage;
  const stops = [
    signals.subscribe('agent-changed', tell),
    signals.subscribe('group-changed', tell),
    signals.onReset(tell),
    watchKey(deps, caller, () => context.abort(keyEnded())),
  ];
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
      stream.end('');
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
