import { type ErrorRequestHandler, type RequestHandler, Router } from 'express';
import { Handler } from './call/handler.ts';
import type { RestOptions } from './call/options.ts';
import { Steps } from './call/steps.ts';
import type { Route } from './compile.ts';
import { listPaths } from './paths.ts';

/** Tags whose routers are asked first: the paths of models. */
const hotTags = ['Completions', 'Messages', 'Responses'];

/**
 * The REST API: one Express router a tag, one Express route an operation. A route authenticates the request, checks the key's scope, admits
 * the run and reads the body. Then it executes its document in this process and sends the result.
 *
 * @returns what the application uses in this order: a router around the routers would cost every request 4 KB.
 */
export function createRestHandlers(options: RestOptions): readonly (RequestHandler | ErrorRequestHandler)[] {
  const steps = new Steps(options);
  const { handle } = new Handler(options);
  const routers = new Map<string, Router>();
  const unmatched = newRouter();
  const places = options.routes.flatMap((route) => listPaths(route.row).map((path) => ({ path, route })));
  places.sort((a, b) => compare(sortKey(a), sortKey(b)));
  for (const [path, atPlace] of Map.groupBy(places, (place) => place.path)) {
    const atPath = atPlace.map(({ route }) => route);
    const { tag = '', slashesIn, client } = atPath[0]?.row ?? {};
    const router = routers.get(tag) ?? newRouter();
    routers.set(tag, router);
    const methods = atPath.map(({ row }) => row.method.toUpperCase());
    const refuse = steps.refuseMethod(
      [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', '),
      atPath[0]?.row,
    );
    const place = router.route(path.replace(/\{(\w+)\}/g, (_all, name) => (name === slashesIn ? `*${name}` : `:${name}`)));
    for (const route of atPath) {
      // The head of an event stream tells nothing, and opening one for it would start work.
      if (route.row.stream?.when === 'always') place.head(refuse);
      place[route.row.method](...steps.before(route), handle);
    }
    place.all(refuse);
    // What a client of a format asks below its routes is refused in its format, such as batches of messages.
    if (client !== undefined && client.isOptional !== true) unmatched.all(`${path}/*below`, steps.refusePath(client));
  }
  // Clients of the format that ask what is not served elsewhere are known by the header of their version.
  const headerClient = options.routes.find(({ row }) => row.client?.isOptional === true)?.row.client;
  return [...routers.values(), passBadEscape, unmatched.all(/^\/(?:api|v1)\//, steps.refusePath(headerClient))];
}

function newRouter(): Router {
  return Router({ caseSensitive: true });
}

/** `{` sorts after every character of a fixed segment, so `/ais/import` is asked before `/ais/{aiId}`. */
function sortKey({ path, route }: { readonly path: string; readonly route: Route }): string {
  return hotTags.includes(route.row.tag) ? path : `~${path}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A path whose escapes Express cannot decode is a path without a route. */
export const passBadEscape: ErrorRequestHandler = (error, _req, _res, next) =>
  next(error instanceof URIError && 'status' in error ? undefined : error);
