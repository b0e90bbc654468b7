import { publicError } from '../entities/ground/errors.ts';
import { displayValue } from '../lib/text/display-value.ts';
import { type Settings, SettingsError, usableSettings } from '../settings.ts';
import { StartRefusal } from '../storage/ground/opening/start-refusal.ts';
import { checkQuickly } from './checks/checks.ts';
import { databaseProblem } from './checks/database.ts';
import { type Finding, findCode, sentences } from './checks/finding.ts';
import { mistypedSentence, mistypedSettings } from './checks/mistyped.ts';
import { listenProblem } from './checks/port.ts';

/**
 * Why Parley does not start, for the operator: what is wrong and what to do, without a stack. Everything else that would stop the next start
 * too stands in further lines. Only loaded when a start failed.
 *
 * @returns undefined for an error that is a bug: nobody could mend it by the settings.
 */
export async function findRefusal(error: unknown, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const reasons = findReasons(error, env);
  if (reasons === undefined) return undefined;
  const others = await checkQuickly(env).catch(() => []);
  const refusalText = reasons.join('\n');
  const more = others.map(sentences).filter((text) => !isSaid(text, refusalText));
  // Not the reason by itself, but often behind it: a setting that is missing has another name.
  const all = [...reasons, ...more, ...mistypedSettings(env).map(mistypedSentence)];
  const hint = error instanceof SettingsError ? '\nWhat is allowed stands in docs/configuration.md.' : '';
  return all.length === 1
    ? `Parley cannot start: ${all[0]}${hint}`
    : `Parley cannot start:\n${all.map((text) => `  ${text}`).join('\n')}${hint}`;
}

function findReasons(error: unknown, env: NodeJS.ProcessEnv): readonly string[] | undefined {
  if (error instanceof SettingsError) return error.problems;
  if (!(error instanceof Error)) return undefined;
  if (error instanceof StartRefusal) return [error.message];
  if (error.message.startsWith('bad configuration')) return [error.message.replace(/^bad configuration:?\s*/, '')];
  if (publicError(error).code === 'STORAGE_FULL') {
    return ['a disk is full. Make room on the disk of DATA_DIR, of BLOB_URL or of the database, and start again.'];
  }
  const { settings } = usableSettings(env);
  const finding: Finding | undefined = isOfListening(error, settings)
    ? listenProblem(error, settings)
    : databaseProblem(error, settings);
  if (finding !== undefined) return [sentences(finding)];
  // Of the operating system: a right, a file, a limit. Its message names the path.
  return /^E[A-Z]+$/.test(findCode(error) ?? '') ? [`${displayValue('DATA_DIR', error.message)}.`] : undefined;
}

/** Node says of an error which call it was, and of a look-up which host. */
function isOfListening(error: Error, { HOST }: Pick<Settings, 'HOST'>): boolean {
  return ('syscall' in error && error.syscall === 'listen') || ('hostname' in error && error.hostname === HOST);
}

/** By the settings that it names: a second sentence about them would only repeat the first. */
function isSaid(text: string, refusalText: string): boolean {
  const names = text.match(/\b[A-Z]+(?:_[A-Z0-9]+)+\b|\bPORT\b|\bHOST\b|\bROLE\b/g) ?? [];
  return names.length > 0 && names.some((name) => new RegExp(`\\b${name}\\b`).test(refusalText));
}
