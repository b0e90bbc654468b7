import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Deps } from '../domain/deps.ts';
import { DomainError } from '../entities/ground/errors.ts';
import type { Caller } from '../entities/people/caller.ts';
import { isSession } from '../entities/people/session.ts';
import { authenticateBrowser } from '../http/authenticate/authenticate.ts';
import { createKeyCheck, createSessionCheck } from '../http/authenticate/key-check.ts';
import { findRequestId } from '../http/context.ts';
import type { Admissions } from '../http/limits.ts';
import { sendBody } from '../http/reply/reply.ts';

/** Who sits at the browser. A key is nobody there. */
export interface Visitors {
  /** The person at the browser; undefined for nobody. */
  find(req: IncomingMessage): Promise<Caller | undefined>;
}

export function createVisitors(deps: Deps, { failedKeys }: Admissions): Visitors {
  const keys = createKeyCheck(deps, failedKeys);
  const sessions = createSessionCheck(deps, failedKeys);
  return {
    async find(req) {
      if (req.headers.authorization !== undefined) return undefined;
      try {
        const caller = await authenticateBrowser(req, keys, sessions);
        return isSession(caller) ? caller : undefined;
      } catch (error) {
        if (error instanceof DomainError && error.code === 'INVALID_API_KEY') return undefined;
        throw error;
      }
    },
  };
}

/** Sends a browser to the page that signs in, and back. */
export function sendToSignIn(req: IncomingMessage, res: ServerResponse, next: string): void {
  const location = `/sign-in?${new URLSearchParams({ next })}`;
  sendBody(res, 303, ['location', location, 'cache-control', 'no-store', 'x-request-id', findRequestId(req)], '');
}
