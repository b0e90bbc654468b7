import type { PublicError } from '../entities/errors.ts';
import { wireName } from './body.ts';
import type { Route } from './compile.ts';

/**
 * The member that was wrong, as this caller wrote it. The domain names arguments (`first`) and members in camelCase; the caller of a
 * row knows the row's variables (`limit`) and, in a snake-case body, `max_tokens`.
 */
export function callerParam(route: Route, { param, detail }: PublicError): string | null {
  if (param === null || param === '') return null;
  const { row } = route;
  // Faults that the body reader found are written the caller's way already; those of the domain are in camelCase.
  if (detail.faults !== undefined) return row.bodyCase === 'snake' ? wireName(param, 'snake') : param;
  const own = row.body !== undefined && param.startsWith(`${row.body}.`) ? param.slice(row.body.length + 1) : param;
  const head = /^[^.[]*/.exec(own)?.[0] ?? '';
  const renamed = route.argumentNames.get(head);
  const named = renamed === undefined || renamed === row.body ? own : `${renamed}${own.slice(head.length)}`;
  return row.bodyCase === 'snake' ? wireName(named, 'snake') : named;
}
