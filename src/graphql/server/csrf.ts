import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../entities/errors.ts';

/** Any of these shows that a browser asked first whether it may send the request: Parley never says yes to another origin. */
const preflightHeaders = ['x-graphql-yoga-csrf', 'apollo-require-preflight', 'graphql-require-preflight', 'x-requested-with'];

/**
 * Forms and plain text are what another site can make a browser send without asking, so they need a header that it cannot. JSON asks by
 * itself, and so does a GET, whose key stands in a header that browsers never send to another site unasked.
 *
 * @throws DomainError FORBIDDEN
 */
export function requirePreflight(req: IncomingMessage): void {
  if (preflightHeaders.some((name) => req.headers[name] !== undefined)) return;
  throw new DomainError('FORBIDDEN', `A body that is not JSON needs one of the headers ${preflightHeaders.join(', ')}`);
}
