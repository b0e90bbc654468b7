import { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Deps } from '../../domain/deps.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { authenticate } from '../../http/authenticate/authenticate.ts';
import { createKeyCheck } from '../../http/authenticate/key-check.ts';
import { readJsonBody } from '../../http/body/json.ts';
import { findRequestId } from '../../http/context.ts';
import type { Admissions } from '../../http/limits.ts';
import type { Metrics } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { sendJson } from '../../http/reply/reply.ts';
import { isObject } from '../../lib/json/json.ts';

export interface SavedDocumentParts {
  readonly deps: Deps;
  readonly metrics: Metrics;
  readonly admissions: Admissions;
  /** Runs a document, and says what it answered. */
  readonly run: (call: DocumentRequest) => Promise<object>;
}

export interface DocumentRequest {
  readonly caller: Caller;
  readonly res: Response;
  readonly name: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const path = '/api/v1/documents/:name';

/**
 * Takes POST only. `POST /api/v1/documents/{name}` runs a document that the organization of the key has saved, with the members of the body as its variables. Answers
 * `data`, and `errors` where members that may be null failed.
 */
export function createSavedDocumentCalls({ deps, metrics, admissions, run }: SavedDocumentParts): RequestHandler {
  const keys = createKeyCheck(deps, admissions.failedKeys);
  const meter = metrics.meter('runSavedDocument', '/api/v1/documents/{name}');
  const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = deps.settings;
  const handle = async (req: Request, res: Response) => {
    res.locals.meter = meter;
    const caller = await authenticate(req, keys);
    countRequest(deps, caller, res, res.locals.startedMs);
    const { value } = await readJsonBody(req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS);
    if (!isObject(value)) throw new DomainError('INVALID_TYPE', 'The body must be an object: the variables of the document');
    const result = await run({ caller, res, name: String(req.params.name), variables: value });
    sendJson(res, 200, JSON.stringify(result), findRequestId(req));
  };
  const router = Router({ caseSensitive: true }).post(path, handle);
  // A router costs every request more than this look at its path.
  return (req, res, next) =>
    req.method === 'POST' && req.url.startsWith('/api/v1/documents/') ? router(req, res, next) : next();
}
