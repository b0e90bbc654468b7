import { availableParallelism } from 'node:os';
import type { FirstKey } from '../domain/people/first-start.ts';
import { commandLine } from '../lib/product.ts';
import { countProcesses } from '../lib/settings/process-count.ts';
import type { Settings } from '../settings.ts';
import { demoAgentName } from './demo.ts';

/** What a person sees once the service is up: where it is, the first key, what to try next. @param publicUrl  base of links that others open. */
export function welcome(url: string, publicUrl: string, firstKey: FirstKey | undefined, settings: Settings): string {
  const place = settings.DATABASE_URL === undefined ? `embedded database in ${settings.DATA_DIR}` : 'PostgreSQL server';
  const count = countProcesses(settings);
  return [
    '',
    `Parley listens on ${url} (${place}${count === 1 ? '' : `, ${count} processes`}).`,
    ...coresLines(count),
    ...keyLines(firstKey),
    ...signInLines(publicUrl, firstKey),
    '',
    ...nextSteps(url, firstKey, settings),
    '',
  ].join('\n');
}

/** Follows when the demo agent is there: one command that works as it is printed. */
export function demoWelcome(url: string, firstKey: FirstKey): string {
  return [
    'Ask it something, from a second terminal in this folder:',
    '',
    `  ${askCommand(url, firstKey, demoAgentName)}`,
    '',
  ].join('\n');
}

function coresLines(processCount: number): string[] {
  const cores = availableParallelism();
  if (processCount > 1 || cores === 1) return [];
  return [`It works on one of the ${cores} cores that it may use; PROCESSES=auto makes it use all.`];
}

function keyLines(firstKey: FirstKey | undefined): string[] {
  if (firstKey === undefined) return [];
  if (!firstKey.isMade) return ['The first key is the one in PARLEY_ADMIN_KEY.'];
  return ['', 'Your first key. It may do everything, and it is shown this once only:', '', `  ${firstKey.secret}`];
}

function signInLines(publicUrl: string, firstKey: FirstKey | undefined): string[] {
  if (firstKey === undefined) return [];
  if (firstKey.signInPath === undefined) return [`To sign in with a browser: ${commandLine} sign-in-link`];
  const address = publicUrl + firstKey.signInPath;
  return ['', 'Sign in with a browser by this link, which works once and for an hour:', '', `  ${address}`];
}

function nextSteps(url: string, firstKey: FirstKey | undefined, { DEMO }: Settings): string[] {
  const places = `GraphiQL at ${url}/graphql, the REST reference at ${url}/docs, and the manual at ${url}/manual.`;
  if (firstKey === undefined) return [`The command line: ${commandLine} help. ${places}`];
  if (DEMO === 'on') return [places];
  return ['Try next, from a second terminal in this folder:', '', `  ${askCommand(url, firstKey, undefined)}`, '', places];
}

/** With the key itself where Parley made it. A key that the operator chose is written nowhere. */
function askCommand(url: string, { secret, isMade }: FirstKey, agent: string | undefined): string {
  const key = isMade ? secret : '"$PARLEY_ADMIN_KEY"';
  const question =
    agent === undefined ? '"What can you do?" --model parley/offline' : `"How does the backup work?" --agent "${agent}"`;
  return `${commandLine} ask ${question} --url ${url} --key ${key}`;
}
