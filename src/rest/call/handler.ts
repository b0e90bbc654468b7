import type { Span } from '@opentelemetry/api';
import { execute } from 'graphql';
import { Faults } from '../../domain/ground/faults.ts';
import { runOnce } from '../../domain/ground/idempotency.ts';
import { keyEnded, watchKey, watchRevocation } from '../../domain/people/api-keys.ts';
import { asSpan, type Tracing } from '../../engine/tracing/tracing.ts';
import type { Caller } from '../../entities/people/caller.ts';
import { bearerSecret } from '../../http/authenticate/authenticate.ts';
import type { Upload } from '../../http/body/upload.ts';
import type { CallContext, CallTerms } from '../../http/context.ts';
import { switchOffExtensions } from '../../http/extensions.ts';
import { boundedResult } from '../../http/reply/budget.ts';
import { sendDownload } from '../../http/reply/download.ts';
import { sendEmpty, sendJson } from '../../http/reply/reply.ts';
import type { Variables } from '../../wire/ground/encoder.ts';
import type { Route } from '../compile.ts';
import type { OpenSource } from '../documents/source.ts';
import { isOf } from '../header-client.ts';
import { placedError } from '../input/error-params.ts';
import { readVariables, refusesExtensions } from '../input/variables.ts';
import type { DeclaredRoute } from '../route.ts';
import { type Call, requestParts, type Step, wantsStream } from './call.ts';
import type { RestOptions } from './options.ts';
import { encodedReply, noHeaders, type Reply, rootValue, toReply } from './reply.ts';
import { encoderContext, foldStream, notedHeaders, sendStream, shownTo } from './stream.ts';

type WatchKey = (caller: Caller, onEnd: () => void) => () => void;

/** The last middleware of every route: runs the route's document in this process and sends the reply or the stream. */
export class Handler {
  readonly #options: RestOptions;
  readonly #watch: WatchKey;
  readonly #watchRevocation: WatchKey;

  constructor(options: RestOptions) {
    const { deps, keys } = options;
    this.#options = options;
    this.#watch = keys?.watch ?? ((caller, onEnd) => watchKey(deps, caller, onEnd));
    this.#watchRevocation = keys?.watch ?? ((caller, onEnd) => watchRevocation(deps, caller, onEnd));
  }

  readonly handle: Step = async (_req, { locals: { call } }) => {
    const { tracing, storage } = this.#options.deps;
    const answer = () =>
      storage.db.runFor(
        () => call.context.caller,
        () => this.#answer(call),
      );
    try {
      await (tracing === undefined ? answer() : asSpan(tracing, beginOperation(tracing, call), answer));
    } finally {
      await call.body.dispose?.();
    }
  };

  #answer(call: Call): Promise<void> {
    return wantsStream(call) ? this.#stream(call) : this.#reply(call);
  }

  async #reply(call: Call): Promise<void> {
    const { req, res, route, context } = call;
    const variables = readCall(call);
    if (route.row.download !== undefined) {
      await this.#run(route, variables, context);
      const download = await route.row.download(this.#options.deps, context.caller, variables);
      return sendDownload(res, download, context.requestId, req.method === 'HEAD');
    }
    const idempotencyKey = route.row.method === 'post' ? req.headers['idempotency-key'] : undefined;
    const { reply, isReplay } =
      idempotencyKey === undefined
        ? { reply: await this.#run(route, variables, context), isReplay: false }
        : await this.#runOnce(call, variables, String(idempotencyKey));
    const headers = headersOf(call);
    if (isReplay) headers.push('idempotency-replayed', 'true');
    if (reply.headers !== noHeaders) headers.push(...Object.entries(reply.headers).flat());
    if (reply.text === undefined) sendEmpty(res, reply.status, context.requestId, headers);
    else sendJson(res, reply.status, reply.text, context.requestId, headers);
  }

  /** A POST with an idempotency key runs once: its repetitions get the first reply. */
  #runOnce({ req, route, body, context }: Call, variables: Variables, idempotencyKey: string) {
    const request = {
      keyId: context.caller.keyId,
      secret: bearerSecret(req) ?? '',
      idempotencyKey,
      request: `${route.row.operationId}\n${req.url}\n${body.upload === undefined ? body.text : uploadText(body.upload)}`,
    };
    return runOnce(this.#options.deps, request, () => this.#run(route, variables, context));
  }

  async #run(route: Route, variables: Variables, context: CallContext): Promise<Reply> {
    const { row } = route;
    if (route.source === undefined && row.asksModel !== true) {
      const execute = () => this.#execute(route, variables, context);
      return this.#options.admissions.requests.run(context.caller, () => context.signal, execute);
    }
    const stopWatching = endWithKey(context, this.#watchRevocation);
    try {
      const reply = await (route.source === undefined
        ? this.#execute(route, variables, context)
        : this.#fold(route, route.source, variables, context));
      if (context.endedBy !== undefined) throw context.endedBy;
      return reply;
    } catch (error) {
      throw context.endedBy ?? error;
    } finally {
      stopWatching();
    }
  }

  async #fold({ row }: Route, source: OpenSource, variables: Variables, context: CallContext): Promise<Reply> {
    const fold = row.reply?.fold;
    if (fold === undefined) throw new Error(`${row.operationId} has no fold`);
    const { runs } = this.#options.admissions;
    context.isStreamed = false;
    runs.enter(context.caller);
    try {
      return await foldStream(fold, { source: await source(variables, context), variables, context });
    } finally {
      runs.leave(context.caller);
    }
  }

  async #execute(route: Route, variables: Variables, context: CallContext): Promise<Reply> {
    const { row, schema, executed: document } = route;
    const executed = async () => execute({ schema, document, variableValues: variables, contextValue: context });
    let reply: Reply;
    if (row.reply?.encode === undefined)
      reply = toReply(route, boundedResult(await executed(), context.replyBudget), shownTo(context));
    else {
      const read = row.read?.(this.#options.deps, context.caller, variables);
      const value = await (read ?? executed().then((result) => rootValue(route, result)));
      const ownBody = variables.clientQuery === undefined ? undefined : clientBody(row, value, String(variables.clientQuery));
      const body = ownBody ?? row.reply.encode(value as never, encoderContext(context));
      reply = encodedReply(row, body, context.replyBudget);
    }
    return context.hasNotes ? { ...reply, headers: { ...reply.headers, ...notedHeaders(context) } } : reply;
  }

  async #stream(call: Call): Promise<void> {
    const { res, route, context } = call;
    const { row, stream } = route;
    if (row.stream === undefined || stream === undefined) throw new Error(`${row.operationId} has no stream`);
    const variables = readCall(call);
    const { admissions, streams } = this.#options;
    context.isStreamed = true;
    admissions.runs.enter(context.caller);
    const stopWatching = endWithKey(context, this.#watch);
    try {
      const source = await stream(variables, context);
      await sendStream(streams, row.stream.encoder, { source, variables, context, res, headers: headersOf(call) });
    } finally {
      stopWatching();
      admissions.runs.leave(context.caller);
    }
  }
}

/** Headers of a good reply, with the one by which clients of another format know the request. */
function headersOf({ route, res, context }: Call): string[] {
  const { requestIdHeader } = res.locals;
  return requestIdHeader === undefined ? [...route.headers] : [...route.headers, requestIdHeader, context.requestId];
}

function readCall(call: Call): Variables {
  const { route, res } = call;
  const variables = readVariables(route, requestParts(call), (toPlace) => {
    res.locals.errorForm = placedError.bind(undefined, route, toPlace);
  });
  if (isOf(route.row.client, call.req)) variables.clientQuery = call.query;
  const { terms } = call.route.row;
  if (terms !== undefined) call.context.terms = termsOf(terms, variables);
  if (refusesExtensions(variables)) switchOffExtensions(call.req.headers);
  return variables;
}

/** The reply in the format of a client that says in a header which one it reads. */
function clientBody({ client }: DeclaredRoute, value: unknown, query: string): object | undefined {
  const faults = new Faults();
  const body = client?.encode?.(value as never, new URLSearchParams(query), faults);
  faults.throwIfAny();
  return body;
}

function termsOf(terms: NonNullable<DeclaredRoute['terms']>, variables: Variables): CallTerms {
  return Object.fromEntries(
    Object.entries(terms).map(([name, type]) => [name, type === true || (variables[name] as CallTerms[string])]),
  );
}

/** Long work ends with the key that asked for it. @returns stops watching. */
function endWithKey(context: CallContext, watch: WatchKey): () => void {
  return watch(context.caller, () => {
    context.abort(keyEnded());
  });
}

/** The span of a route's operation. */
function beginOperation(tracing: Tracing, { route: { row, main } }: Call): Span {
  return tracing.begin(row.operationId, 'internal', {
    'parley.operation': row.operationId,
    'graphql.root_fields': [main.rootField.name],
  });
}

function uploadText(upload: Upload): string {
  return JSON.stringify([upload.hash, ...[...upload.fields].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
