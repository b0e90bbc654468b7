import { createRequire } from 'node:module';
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { parseHeaderList } from '../../engine/tracing/header-list.ts';
import type { Settings } from '../../settings.ts';

/** Members that hold secrets wherever they appear in a logged object. */
const secretMembers = ['authorization', 'x-api-key', 'cookie', 'key', 'apiKey', 'secret', 'secrets', 'password', 'token'];
const secretSettings = [
  'PARLEY_ADMIN_KEY',
  'PARLEY_MASTER_KEY',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GOOGLE_API_KEY',
  'AUDIT_SINK_SECRET',
  'AUDIT_SINK_URL',
] as const;
const secretMark = '[secret]';

/** A log that also takes lines which are made already. */
export interface ServiceLogger extends Logger {
  /** Writes finished lines of JSON, each with its line feed. Secrets are hidden as in all others. */
  readonly writeLines: (lines: string) => void;
}

/**
 * The process's log. No secret can be printed: members that hold one are replaced wherever they stand, and in the finished text whatever
 * looks like a key of ours, a bearer header, the password of an address, or equals a secret setting.
 *
 * @param write  takes finished lines, perhaps several at a time; default: standard output, pretty where the settings say so.
 * @param number  of several processes of a service: each line bears it.
 */
export function createLogger(settings: Settings, write?: (line: string) => void, number?: number): ServiceLogger {
  const isPretty = settings.LOG_FORMAT === 'pretty' || (settings.LOG_FORMAT === 'auto' && process.stdout.isTTY);
  const target = write ?? (isPretty ? prettyLines() : (line: string) => void process.stdout.write(line));
  const hide = secretHider(settings);
  const mark =
    number === undefined ? (lines: string) => lines : (lines: string) => lines.replace(/^\{/gm, `{"process":${number},`);
  const writeLines = (lines: string) => target(mark(hide(lines)));
  const logger = pino(
    {
      level: settings.LOG_LEVEL,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      redact: { paths: secretMembers.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`]), censor: secretMark },
    },
    { write: writeLines },
  );
  return Object.assign(logger, { writeLines });
}

/** What helps of an error, and its causes. Libraries hang whole connections on theirs, with all that these hold. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const details = Object.entries(error).filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...Object.fromEntries(details),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

function prettyLines(): (line: string) => void {
  // Only people at a terminal need it: a service that logs JSON starts without.
  const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const stream = pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss', sync: true });
  return (line) => void stream.write(line);
}

/** Hides secrets that stand inside texts, as in the message of somebody else's error. */
function secretHider(settings: Settings): (line: string) => string {
  const headers = Object.values(parseHeaderList(settings.OTEL_EXPORTER_OTLP_HEADERS));
  const clients = settings.oidcProviders.flatMap(({ clientSecret }) => clientSecret ?? []);
  const knownSecrets = [...secretSettings.flatMap((name) => settings[name]?.split(',') ?? []), ...headers, ...clients].filter(
    (secret) => secret.length >= 8,
  );
  const patterns = [
    /\bpk_[0-9A-Za-z]{16,}/g,
    /\bBearer +[^\s"\\]+/gi,
    ...knownSecrets.map((secret) => new RegExp(escapePattern(JSON.stringify(secret).slice(1, -1)), 'g')),
  ];
  return (line) => {
    const text = patterns.reduce((rest, pattern) => rest.replace(pattern, secretMark), line);
    // Looking for the rare :// first keeps this off the path of most lines.
    return text.includes('://') ? text.replace(/(:\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)/g, `$1${secretMark}`) : text;
  };
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
