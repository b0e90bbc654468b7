import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/ground/errors.ts';

/**
 * Tells the reader of a body when the rest will not come: the client left, the connection broke, or nothing arrived for `idleMs`. A long
 * body may take its time, a silent one may not. Every reader of a body uses this.
 *
 * @param giveUp  called at most once, with REQUEST_TIMEOUT or CLIENT_CLOSED_REQUEST. No timer is left then.
 * @returns stops watching; call it when the body is complete or refused.
 */
export function watchBody(req: IncomingMessage, idleMs: number, giveUp: (error: DomainError) => void): () => void {
  const stop = () => {
    clearTimeout(timer);
    req.off('data', onData);
    req.off('error', onClose);
    req.off('close', onClose);
  };
  const onData = () => void timer.refresh();
  const onClose = () => {
    if (req.complete) return;
    stop();
    giveUp(new DomainError('CLIENT_CLOSED_REQUEST', 'The body ended before it was complete'));
  };
  const timer = setTimeout(() => {
    stop();
    giveUp(new DomainError('REQUEST_TIMEOUT', `The body stopped arriving before it was complete: nothing came for ${idleMs} ms`));
  }, idleMs).unref();
  req.on('data', onData);
  req.on('error', onClose);
  req.on('close', onClose);
  // The client left earlier: 'close' is not emitted again.
  if (req.destroyed) queueMicrotask(onClose);
  return stop;
}
