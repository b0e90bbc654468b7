import type { IncomingMessage, ServerResponse } from 'node:http';
import { watchKey, watchRevocation } from '../domain/accounts/api-keys.ts';
import type { Deps } from '../domain/deps.ts';
import { runOnce } from '../domain/idempotency.ts';
import { admitTicket } from '../domain/knowledge/upload-tickets.ts';
import type { Caller } from '../entities/accounts/caller.ts';
import { DomainError, isWithoutKey } from '../entities/errors.ts';
import { authenticate, bearerSecret, type KeyCheck } from '../http/authenticate/authenticate.ts';
import { keyCheckOf } from '../http/authenticate/key-check.ts';
import { readJsonBody } from '../http/body/json.ts';
import { readRawUpload } from '../http/body/raw-upload.ts';
import { readUpload, type Upload } from '../http/body/upload.ts';
import { breakOff, toldStatus } from '../http/connections/connection.ts';
import { CallContext, requestIdOf } from '../http/context.ts';
import { sendError, showError } from '../http/errors.ts';
import { takesExtensions } from '../http/extensions.ts';
import type { RouteMeter } from '../http/log/metrics.ts';
import { replyBudget } from '../http/reply/budget.ts';
import { sendDownload } from '../http/reply/download.ts';
import { countRequest } from '../http/reply/rate-headers.ts';
import { discardBody, sendEmpty, sendJson } from '../http/reply/reply.ts';
import { type Call, isJson, requestParts, type Served, ticketOf, wantsStream } from './call.ts';
import type { Route } from './compile.ts';
import { callerError, pathError } from './error-params.ts';
import type { RestOptions } from './options.ts';
import { PathTable } from './paths.ts';
import { noHeaders, type Reply, replyOf } from './reply.ts';
import type { RouteRow, RunFold } from './route.ts';
import { foldStream, notedHeaders, sendStream } from './stream.ts';
import { readVariables } from './variables.ts';

/** A handler as Express has them, and Node alone: what is not under `/api/` goes to `next`. */
export type RestRouter = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

/**
 * The REST face: finds the row, asks the door and the scope, reads the body, runs the row's document in this process, wraps the reply.
 * No framework stands on the path of a request, and what does not change between calls is made here, once.
 */
export function createRestRouter(options: RestOptions): RestRouter {
  const face = new RestFace(options);
  return (req, res, next) => {
    const url = req.url ?? '/';
    if (!url.startsWith('/api/')) return next();
    void face.serve(req, res, url);
  };
}

type WatchKey = (caller: Caller, onEnd: () => void) => () => void;

class RestFace {
  readonly #options: RestOptions;
  readonly #deps: Deps;
  readonly #table = new PathTable<Served>();
  readonly #unmatched: RouteMeter;
  readonly #keyCheck: KeyCheck;
  readonly #watch: WatchKey;
  readonly #watchRevocation: WatchKey;

  constructor(options: RestOptions) {
    const { routes, deps, metrics } = options;
    this.#options = options;
    this.#deps = deps;
    this.#unmatched = metrics.meter('none');
    this.#keyCheck = keyCheckOf(deps, options.admissions.failedKeys, options.keys?.authenticate);
    this.#watch = options.keys?.watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#watchRevocation = options.keys?.watch ?? ((caller, onEnd) => watchRevocation(deps, caller, onEnd));
    for (const route of routes) {
      const { row } = route;
      const holdsRun = row.fold !== undefined || row.stream?.when === 'always';
      const refusals = holdsRun ? options.admissions.runs.makeRefusals(row.errorForm) : undefined;
      const served = { route, meter: metrics.meter(row.operationId), headers: flat(row.headers ?? {}), refusals };
      this.#table.add(row.method.toUpperCase(), row.path, served);
    }
  }

  async serve(req: IncomingMessage, res: ServerResponse, url: string): Promise<void> {
    const startedMs = performance.now();
    const requestId = requestIdOf(req);
    const split = url.indexOf('?');
    let meter = this.#unmatched;
    let served: Served | undefined;
    try {
      const place = this.#table.find(split === -1 ? url : url.slice(0, split));
      const method = req.method ?? 'GET';
      served = place?.byMethod.get(method === 'HEAD' ? 'GET' : method);
      // The head of a stream tells nothing, and opening one for it would start work.
      if (method === 'HEAD' && served?.route.row.stream?.when === 'always') served = undefined;
      meter = served?.meter ?? meter;
      if (method === 'OPTIONS' && place !== undefined) {
        sendEmpty(res, 204, requestId, ['allow', allowed(place.byMethod)]);
        return;
      }
      const query = split === -1 ? '' : url.slice(split + 1);
      const ticket = served === undefined ? undefined : ticketOf(served.route.row, req, query);
      let caller: Caller;
      let sizeBytesMax = Number.POSITIVE_INFINITY;
      if (ticket === undefined) {
        const known = authenticate(req, this.#keyCheck);
        caller = known instanceof Promise ? await known : known;
      } else ({ caller, sizeBytesMax } = await admitTicket(this.#deps, ticket));
      countRequest(this.#deps.rates, caller, res, startedMs);
      if (place === undefined) throw new DomainError('NOT_FOUND', 'There is nothing at this path');
      if (served === undefined) {
        res.setHeader('allow', allowed(place.byMethod));
        throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowed(place.byMethod)}, not ${method}`);
      }
      const context = new CallContext(this.#deps, caller, requestId, res);
      this.#requireScope(served.route, place.values, context);
      const { refusals } = served;
      if (refusals !== undefined && this.#options.admissions.runs.isRefused(req, res, caller, requestId, refusals)) {
        discardBody(req, this.#deps.settings.UPLOAD_MAX_BYTES);
        return;
      }
      await this.#answer({ req, res, requestId, served, path: place.values, query, context, sizeBytesMax });
    } catch (error) {
      this.#refuse(req, res, requestId, served?.route, error);
    } finally {
      meter.finished(toldStatus(res), startedMs);
    }
  }

  /** Before the body is read. @throws DomainError INSUFFICIENT_SCOPE, which is an entry of the audit log. */
  #requireScope({ scope, row, main }: Route, path: readonly string[], context: CallContext): void {
    const { caller } = context;
    if (scope === null || caller.scopes.has(scope)) return;
    const error = new DomainError('INSUFFICIENT_SCOPE', `${row.operationId} needs a key with the scope ${scope}`);
    this.#deps.audit.refusals.note(caller, main.rootField.name, error, path, context);
    throw error;
  }

  async #answer(call: Call): Promise<void> {
    const { req } = call;
    const { row } = call.served.route;
    const { settings } = this.#deps;
    if (row.upload !== undefined && !(row.upload.orJson === true && isJson(req))) return this.#receive(call, row.upload);
    if (row.body === undefined) return this.#reply(call, undefined, '');
    const { value, text } = await readJsonBody(req, settings.BODY_MAX_BYTES, settings.BODY_IDLE_TIMEOUT_MS);
    if (wantsStream(row, call, value)) return this.#stream(call, value);
    return this.#reply(call, value, text);
  }

  /** Reads a file and answers; what it was set aside in is gone afterwards. */
  async #receive(call: Call, { file: fileField, sizeBytesMaxSetting, isRaw }: NonNullable<RouteRow['upload']>): Promise<void> {
    const { settings } = this.#deps;
    const { uploads } = this.#options.admissions;
    const { caller } = call.context;
    uploads.enter(caller);
    try {
      const fileMaxBytes = Math.min(settings[sizeBytesMaxSetting], call.sizeBytesMax);
      const read = isRaw === true ? readRawUpload : readUpload;
      const upload = await read(call.req, { fileField, fileMaxBytes, idleMs: settings.BODY_IDLE_TIMEOUT_MS });
      try {
        await this.#reply(call, undefined, '', upload);
      } finally {
        await upload.dispose();
      }
    } finally {
      uploads.leave(caller);
    }
  }

  async #reply(call: Call, body: unknown, text: string, upload?: Upload): Promise<void> {
    const { req, res, requestId, served, context } = call;
    const { route } = served;
    if (wantsStream(route.row, call, body)) return this.#stream(call, body);
    const readers = route.fold === undefined ? route.plain : route.coerced;
    const variables = readVariables(route, readers, requestParts(call, body, upload));
    if (route.row.download !== undefined) {
      await this.#run(route, variables, context);
      await sendDownload(res, await route.row.download(this.#deps, context.caller, variables), requestId, req.method === 'HEAD');
      return;
    }
    const idempotencyKey = route.row.method === 'post' ? req.headers['idempotency-key'] : undefined;
    let reply: Reply;
    let extra: readonly string[] = served.headers;
    if (idempotencyKey === undefined) reply = await this.#run(route, variables, context);
    else {
      const request = {
        keyId: context.caller.keyId,
        secret: bearerSecret(req) ?? '',
        idempotencyKey: String(idempotencyKey),
        request: `${route.row.operationId}\n${req.url ?? ''}\n${upload === undefined ? text : uploadText(upload)}`,
      };
      const once = await runOnce(this.#deps, request, () => this.#run(route, variables, context));
      reply = once.reply;
      if (once.isReplay) extra = [...extra, 'idempotency-replayed', 'true'];
    }
    const own = reply.headers;
    const headers = own === noHeaders ? extra : [...extra, ...flat(own)];
    if (reply.text === undefined) sendEmpty(res, reply.status, requestId, headers);
    else sendJson(res, reply.status, reply.text, requestId, headers);
  }

  async #run(route: Route, variables: Readonly<Record<string, unknown>>, context: CallContext): Promise<Reply> {
    const { row } = route;
    if (row.fold === undefined && row.asksModel !== true) {
      const execute = () => this.#execute(route, variables, context);
      return this.#options.admissions.requests.run(context.caller, () => context.signal, execute);
    }
    const stopWatching = this.#endWithKey(context, this.#watchRevocation);
    try {
      const reply = await (row.fold === undefined
        ? this.#execute(route, variables, context)
        : this.#fold(route, row.fold, variables, context));
      if (context.endedBy !== undefined) throw context.endedBy;
      return reply;
    } catch (error) {
      throw context.endedBy ?? error;
    } finally {
      stopWatching();
    }
  }

  async #fold(route: Route, fold: RunFold, variables: Readonly<Record<string, unknown>>, context: CallContext): Promise<Reply> {
    if (route.fold === undefined) throw new Error(`${route.row.operationId} has no fold`);
    const { caller } = context;
    this.#options.admissions.runs.enter(caller);
    try {
      return await foldStream(fold, { source: await route.fold(variables, context), variables, context });
    } finally {
      this.#options.admissions.runs.leave(caller);
    }
  }

  async #execute(route: Route, variables: Readonly<Record<string, unknown>>, context: CallContext): Promise<Reply> {
    const budget = replyBudget(this.#deps.settings);
    const result = route.operation.execute({ variableValues: variables, contextValue: context, budget });
    const showsExtensions = takesExtensions((name) => context.header(name));
    const reply = replyOf(route, result instanceof Promise ? await result : result, showsExtensions);
    return context.hasNotes ? { ...reply, headers: { ...reply.headers, ...notedHeaders(context) } } : reply;
  }

  /** What takes long ends with the key that asked for it. @returns stops watching. */
  #endWithKey(context: CallContext, watch: WatchKey): () => void {
    return watch(context.caller, () => {
      context.abort(new DomainError('INVALID_API_KEY', 'The API key was revoked or has expired'));
    });
  }

  async #stream(call: Call, body: unknown): Promise<void> {
    const { res, served, context } = call;
    const { row, stream } = served.route;
    if (row.stream === undefined || stream === undefined) throw new Error(`${row.operationId} has no stream`);
    const variables = readVariables(served.route, served.route.coerced, requestParts(call, body));
    const { caller } = context;
    this.#options.admissions.runs.enter(caller);
    const stopWatching = this.#endWithKey(context, this.#watch);
    try {
      const opened = stream(variables, context);
      const source = opened instanceof Promise ? await opened : opened;
      await sendStream(this.#options.streams, row.stream.encoder, { source, variables, context, res, headers: served.headers });
    } finally {
      stopWatching();
      this.#options.admissions.runs.leave(caller);
    }
  }

  #refuse(req: IncomingMessage, res: ServerResponse, requestId: string, route: Route | undefined, error: unknown): void {
    if (isWithoutKey(error)) this.#deps.audit.refusals.noteWithoutKey();
    const shown = showError(error, this.#deps.logger, requestId);
    if (res.headersSent) {
      if (!res.writableEnded) breakOff(res);
      return;
    }
    sendError(res, route === undefined ? pathError(req.url ?? '', shown) : callerError(route, shown), requestId);
    discardBody(req, this.#deps.settings.UPLOAD_MAX_BYTES);
  }
}

function uploadText(upload: Upload): string {
  return JSON.stringify([upload.hash, ...[...upload.fields].sort(([a], [b]) => (a < b ? -1 : 1))]);
}

function flat(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flat();
}

function allowed(byMethod: ReadonlyMap<string, unknown>): string {
  const methods = [...byMethod.keys()];
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}
