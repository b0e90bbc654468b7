import type { IncomingMessage } from 'node:http';
import { DomainError } from '../entities/errors.ts';

/**
 * Gives up on a body of which nothing has arrived for `idleMs`. Long uploads may take their time, silent ones may not.
 *
 * @returns stops watching; call it when the body is complete.
 */
export function limitIdle(req: IncomingMessage, idleMs: number, reject: (error: DomainError) => void): () => void {
  const timer = setTimeout(() => {
    reject(new DomainError('REQUEST_TIMEOUT', 'The body stopped arriving before it was complete'));
  }, idleMs);
  timer.unref();
  req.on('data', () => timer.refresh());
  return () => clearTimeout(timer);
}
