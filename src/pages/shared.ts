import type { IncomingMessage } from 'node:http';
import { type RequestHandler, Router } from 'express';
import { DomainError } from '../entities/ground/errors.ts';
import { type Addressing, requireOwnPage } from '../http/authenticate/session-cookie.ts';
import { findRequestId } from '../http/context.ts';
import { sendJson } from '../http/reply/reply.ts';
import { readPageBody, readText } from './page-body.ts';

/** What the page of a shared chat asks the domain for. */
export interface SharedSteps {
  /** @throws DomainError for the visitor */
  read(visit: { readonly secret: string; readonly after: number | undefined }, req: IncomingMessage): Promise<object>;
}

/**
 * What the page `/shared` of the console calls for who is not signed in: a chat that is shared with anyone. The secret comes in the body, so that it gets into no
 * log.
 */
export function createSharedPage({ read }: SharedSteps, addressing: Addressing): Router {
  const open: RequestHandler = async (req, res) => {
    requireOwnPage(req, addressing);
    const body = await readPageBody(req);
    const { after } = body;
    if (after !== undefined && !Number.isSafeInteger(after))
      throw new DomainError('INVALID_VALUE', 'after must be `nextAfter` of the page before', { param: 'after' });
    const visit = { secret: readText(body, 'secret'), after: after as number | undefined };
    const page = await read(visit, req);
    const headers = ['x-robots-tag', 'noindex'];
    sendJson(res, 200, JSON.stringify(page), findRequestId(req), headers);
  };
  return Router({ strict: true, caseSensitive: true }).post('/shared/open', open);
}
