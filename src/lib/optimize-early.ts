import { setFlagsFromString } from 'node:v8';

/**
 * Makes V8 optimize a function after some hundred calls instead of some thousand. A service calls most of its functions once for each request
 * and has many of them: by V8's own counts its first thousands of requests run in unoptimized code. Call it behind the start, whose
 * functions are not called again. A trick that stays: without it the service falls under its floor of .45 of a pass-through at 64 connections
 * (2,051 requests a second instead of 2,852). Reasons and figures: docs/decisions/start.md.
 */
export function optimizeEarly(): void {
  for (const flag of flags) setFlagsFromString(flag);
}

/** V8 reads them whenever it decides; nothing depends on when they are set. */
const flags = [
  '--invocation-count-for-maglev=100',
  '--invocation-count-for-turbofan=400',
  '--minimum-invocations-after-ic-update=100',
] as const;
