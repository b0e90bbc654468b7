import type { PublicError } from '../../entities/ground/errors.ts';
import { responseError } from '../../wire/responses/errors.ts';
import type { Route } from '../compile.ts';
import { memberNames } from './member-names.ts';

/**
 * A failure with the names of the wrong members as the caller writes them. The domain names arguments (`first`) and members in camelCase;
 * the caller of a route knows the route's variables (`limit`) and, in a snake-case body, `max_tokens`.
 */
export function callerError(route: Route, error: PublicError): PublicError {
  const shownError = route.row.errorForm?.(error) ?? error;
  // A body of another format was read by its own names.
  if (route.row.form !== undefined) return shownError;
  const { faults } = shownError.detail;
  const param = shownError.param === null || shownError.param === '' ? null : callerPath(route, shownError.param);
  const renamedError = renamedFault(shownError, param);
  if (faults === undefined) return renamedError;
  return {
    ...renamedError,
    detail: { ...shownError.detail, faults: faults.map((fault) => renamedFault(fault, callerPath(route, fault.param))) },
  };
}

/** The same for a body of another format, which has its own places for what the domain names. */
export function placedError(route: Route, toPlace: (param: string) => string, error: PublicError): PublicError {
  const rename = (param: string | null) => (param === null || param === '' ? param : toPlace(param));
  const renamedError = withPlace(renamedFault(error, rename(error.param)));
  const { faults } = error.detail;
  const detail =
    faults === undefined
      ? error.detail
      : { ...error.detail, faults: faults.map((fault) => withPlace(renamedFault(fault, toPlace(fault.param)))) };
  return route.row.errorForm?.({ ...renamedError, detail }) ?? { ...renamedError, detail };
}

/** A message may begin with a place in other words than its member. */
function withPlace<Told extends Pick<PublicError, 'message' | 'param'>>(told: Told): Told {
  const place = /^(?:messages|tools)\[\d+\][\w.[\]]*/.exec(told.message)?.[0];
  if (place === undefined || place === told.param || told.param === null) return told;
  return { ...told, message: `${told.param}${told.message.slice(place.length)}` };
}

/** A failure of a request without a route: the beginning of its path says which format its caller reads. */
export function pathError(url: string, error: PublicError): PublicError {
  return /^\/api\/v2(?:[/?]|$)/.test(url) ? responseError(error) : error;
}

/** With another name for the member that was wrong, also where the message begins with it. */
export function renamedFault<Told extends Pick<PublicError, 'message' | 'param'>, Param extends Told['param']>(
  errorDetails: Told,
  param: Param,
) {
  const { message } = errorDetails;
  const isNamed = param !== null && errorDetails.param !== null && message.startsWith(`${errorDetails.param} `);
  return { ...errorDetails, param, message: isNamed ? `${param}${message.slice(errorDetails.param?.length)}` : message };
}

/** A member of an object whose names are the caller's own: `userSecrets.API_KEY`. */
const ofCaller = /^(userSecrets|secrets)(\..*)$/s;

function callerPath(route: Route, param: string): string {
  const { row } = route;
  const givenPath = row.body !== undefined && param.startsWith(`${row.body}.`) ? param.slice(row.body.length + 1) : param;
  const own = givenPath.startsWith(route.bodyPlace) ? givenPath.slice(route.bodyPlace.length) : givenPath;
  const head = /^[^.[]*/.exec(own)?.[0] ?? '';
  // Names of the path, the query and of headers are written in one way only.
  if (route.pathNames.includes(head) || head in (row.query ?? {}) || !/^[a-z]/.test(head)) return own;
  const renamedHead = route.argumentNames.get(head);
  const path = renamedHead === undefined || renamedHead === row.body ? own : `${renamedHead}${own.slice(head.length)}`;
  const { wire } = memberNames(row);
  const pathMatch = ofCaller.exec(path);
  return pathMatch === null ? path.replace(/[A-Za-z0-9_]+/g, wire) : `${wire(pathMatch[1] ?? '')}${pathMatch[2] ?? ''}`;
}
