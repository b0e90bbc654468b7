import type { IncomingMessage } from 'node:http';
import type { Response } from 'express';
import { isDirectory } from '../../domain/ground/access/access.ts';
import { insufficientScope } from '../../domain/ground/access/policy.ts';
import { notedRefusal } from '../../domain/ground/audit/operation.ts';
import { admitTicket } from '../../domain/knowledge/upload-tickets.ts';
import { DomainError } from '../../entities/ground/errors.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { authenticate, type KeyCheck } from '../../http/authenticate/authenticate.ts';
import { createKeyCheck } from '../../http/authenticate/key-check.ts';
import { readJsonBody } from '../../http/body/json.ts';
import { readRawUpload } from '../../http/body/raw-upload.ts';
import { readUpload } from '../../http/body/upload.ts';
import { CallContext, findRequestId } from '../../http/context.ts';
import { makeError, unknownPath } from '../../http/errors.ts';
import { leaveOutExtensions } from '../../http/extensions.ts';
import type { RouteMeter } from '../../http/log/metrics.ts';
import { countRequest } from '../../http/reply/rate-headers.ts';
import { discardBody, sendEmpty, sendJson } from '../../http/reply/reply.ts';
import type { ShareRefusal } from '../../lib/flow/fair-share.ts';
import type { Route } from '../compile.ts';
import { type HeaderClient, isOf, readKeyHeader, requireVersion } from '../header-client.ts';
import { callerError, pathError } from '../input/error-params.ts';
import { isAlias } from '../paths.ts';
import type { DeclaredRoute } from '../route.ts';
import { type Call, type CallBody, type PathValues, readQuery, readTicket, type Step } from './call.ts';
import type { RestOptions } from './options.ts';

const noBody: CallBody = { text: '' };

/** The middleware in front of a route's handler. Each is made once a route, and left out where a route does not need it. */
export class Steps {
  readonly #options: RestOptions;
  readonly #keyCheck: KeyCheck;
  readonly #unmatched: RouteMeter;

  constructor(options: RestOptions) {
    this.#options = options;
    this.#keyCheck = createKeyCheck(options.deps, options.admissions.failedKeys, options.keys?.authenticate);
    this.#unmatched = options.metrics.meter('none');
  }

  /** Authentication, the key's scope and a place for a run come before the body. */
  before(route: Route): readonly Step[] {
    const steps = [this.#authenticate(route), this.#requireScope(route), this.#admit(route), this.#readBody(route)];
    return steps.filter((step) => step !== undefined);
  }

  /** For a path without a route of this method. OPTIONS needs no key. */
  refuseMethod(allowedMethods: string, { client }: Pick<DeclaredRoute, 'client'> = {}): Step {
    return async (req, res) => {
      res.locals.meter = this.#unmatched;
      if (req.method === 'OPTIONS') return sendEmpty(res, 204, findRequestId(req), ['allow', allowedMethods]);
      await this.#authenticateOnly(req, res, client);
      res.setHeader('allow', allowedMethods);
      throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowedMethods}, not ${req.method}`);
    };
  }

  /** For a path without a route. Only a caller with a key learns that there is none. @param client  of the routes above the path. */
  refusePath(client?: HeaderClient): Step {
    return async (req, res) => {
      await this.#authenticateOnly(req, res, client);
      throw unknownPath(req);
    };
  }

  async #authenticateOnly(req: IncomingMessage, res: Response, client: HeaderClient | undefined): Promise<void> {
    const { locals } = res;
    locals.meter = this.#unmatched;
    locals.errorForm = (shownError) => pathError(req.url ?? '', shownError);
    if (isOf(client, req)) {
      readKeyHeader(client, req);
      locals.errorForm = client.errorForm;
    }
    countRequest(this.#options.deps, await authenticate(req, this.#keyCheck), res, locals.startedMs);
  }

  /** Identifies the caller by key or ticket, counts the request and makes the call. */
  #authenticate(route: Route): Step {
    const { deps, metrics } = this.#options;
    const meter = metrics.meter(route.row.operationId, route.row.path);
    const errorForm = callerError.bind(undefined, route);
    const actions = [route.main.rootField.name];
    return (req, res, next) => {
      const { locals } = res;
      locals.meter = meter;
      const client = isOf(route.row.client, req) ? route.row.client : undefined;
      locals.errorForm = client?.isOptional === true ? client.errorForm : errorForm;
      if (client !== undefined) {
        readKeyHeader(client, req);
        locals.requestIdHeader = client.requestIdHeader;
      }
      if (isAlias(route.row, req.originalUrl)) leaveOutExtensions(req.headers);
      const enter = (caller: Caller, fileMaxBytes = Number.POSITIVE_INFINITY) => {
        countRequest(deps, caller, res, locals.startedMs);
        if (client !== undefined) requireVersion(client, req);
        const context = new CallContext(deps, caller, actions, findRequestId(req), res);
        context.missIsError = true;
        locals.call = {
          req,
          res,
          route,
          context,
          path: pathValues(req.params),
          query: readQuery(req),
          fileMaxBytes,
          body: noBody,
        };
        next();
      };
      const ticket = readTicket(route.row, req);
      if (ticket !== undefined) return admitTicket(deps, ticket).then(({ caller, sizeBytesMax }) => enter(caller, sizeBytesMax));
      const knownCaller = authenticate(req, this.#keyCheck);
      return knownCaller instanceof Promise ? knownCaller.then((caller) => enter(caller)) : enter(knownCaller);
    };
  }

  /** Refuses a key without the scope. The refusal is an entry of the audit log. */
  #requireScope({ scope, row, main }: Route): Step {
    return (req, { locals: { call } }, next) => {
      const { context } = call;
      const { caller } = context;
      if (scope === null ? !isDirectory(caller) : caller.scopes.has(scope)) return next();
      const error = insufficientScope(row.operationId, scope);
      throw notedRefusal(context, main.rootField.name, error, Object.values(req.params).flat());
    };
  }

  /**
   * Where every call holds a run: refuses one that has no place, with an error that was made before, and discards its body. A request with
   * an idempotency key passes: its reply may be stored already.
   */
  #admit(route: Route): Step | undefined {
    if (route.source === undefined) return undefined;
    const { admissions, deps } = this.#options;
    const toRefusalError = (refusal: ShareRefusal) => makeError(admissions.runs.errorOf(refusal), route.row.errorForm);
    const refusals = {
      full: toRefusalError('full'),
      tenant: toRefusalError('tenant'),
      organization: toRefusalError('organization'),
      person: toRefusalError('person'),
    };
    return (req, res, next) => {
      const { context } = res.locals.call;
      const refusal = req.headers['idempotency-key'] === undefined ? admissions.runs.refusal(context.caller) : undefined;
      if (refusal === undefined) return next();
      const { status, text, headers } = refusals[refusal];
      sendJson(res, status, text, context.requestId, headers);
      discardBody(req, deps.settings.UPLOAD_MAX_BYTES);
    };
  }

  #readBody({ row: { upload, body } }: Route): Step | undefined {
    if (upload === undefined && body === undefined) return undefined;
    const { BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS } = this.#options.deps.settings;
    return async (req, { locals: { call } }, next) => {
      if (upload !== undefined && !(upload.orJson === true && isJson(req))) call.body = await this.#receive(call, upload);
      else call.body = await readJsonBody(req, BODY_MAX_BYTES, BODY_IDLE_TIMEOUT_MS);
      next();
    };
  }

  /** Reads a file. It keeps one of the places for uploads until the call is answered. */
  async #receive(
    call: Call,
    { file: fileField, sizeBytesMaxSetting, isRaw }: NonNullable<DeclaredRoute['upload']>,
  ): Promise<CallBody> {
    const { settings } = this.#options.deps;
    const { uploads } = this.#options.admissions;
    const { caller } = call.context;
    const fileMaxBytes = Math.min(settings[sizeBytesMaxSetting], call.fileMaxBytes);
    const read = isRaw === true ? readRawUpload : readUpload;
    uploads.enter(caller);
    try {
      const upload = await read(call.req, { fileField, fileMaxBytes, idleMs: settings.BODY_IDLE_TIMEOUT_MS });
      const dispose = () => upload.dispose().finally(() => uploads.leave(caller));
      return { text: '', upload, dispose };
    } catch (error) {
      uploads.leave(caller);
      throw error;
    }
  }
}

/** A name that takes slashes comes as its segments. */
function pathValues(params: Readonly<Record<string, string | readonly string[]>>): PathValues {
  const [last] = Object.entries(params).slice(-1);
  if (last === undefined || typeof last[1] === 'string') return params as PathValues;
  return { ...params, [last[0]]: last[1].join('/') } as PathValues;
}

function isJson(req: IncomingMessage): boolean {
  return !/^multipart\//i.test(req.headers['content-type'] ?? '');
}
