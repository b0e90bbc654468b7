import { buildSchema } from '../../src/graphql/schema.ts';
import { type Request, readTyped, type Typed } from './arguments.ts';
import { commandNamed, commandsOf } from './commands.ts';
import { exitCodes, Failure, misused } from './failure.ts';
import { openLocal, type Target } from './local.ts';
import { help, helpOf, secretsHelp, shown } from './print.ts';
import { readCommand } from './read-command.ts';
import { rotateSecrets, shownRotation } from './secrets.ts';

/** What a command prints, and the exit code of its process. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `parley <noun> <verb> [--member value …]`: calls one REST operation of the running service, or with --local directly on the data. */
export async function runCommand(words: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  try {
    return { code: 0, out: `${await outputOf(readTyped(words), env)}\n`, err: '' };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { code: error.exitCode, out: '', err: `${error.message}\n` };
  }
}

async function outputOf(typed: Typed, env: NodeJS.ProcessEnv): Promise<string> {
  const schema = buildSchema();
  const commands = commandsOf(schema);
  const [noun = 'help', verb] = typed.words;
  if (noun === 'help') return help(commands);
  if (typed.switches.has('help')) return noun === 'secrets' ? secretsHelp : helpOf(commandNamed(commands, noun, verb));
  const isJson = typed.switches.has('json');
  if (noun === 'secrets') {
    if (verb !== 'rotate' || typed.words.length > 2) throw misused('secrets can be rotated: npm run parley -- secrets rotate');
    const rotation = await rotateSecrets(env);
    return isJson ? JSON.stringify(rotation, null, 2) : shownRotation(rotation);
  }
  const { request, url } = readCommand(commands, typed);
  const target = typed.switches.has('local') ? await openLocal(schema, env) : remote(url, env);
  try {
    const body = await send(target, request);
    return isJson ? JSON.stringify(body, null, 2) : shown(body);
  } finally {
    await target.close();
  }
}

function remote(given: string | undefined, env: NodeJS.ProcessEnv): Target {
  const url = given ?? env.PARLEY_URL ?? 'http://127.0.0.1:4000';
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw misused(`"${url}" is no http(s) address.`);
  const key = env.PARLEY_KEY;
  if (key === undefined || key === '') {
    throw new Failure(
      'Set PARLEY_KEY to a key with the scopes of the command. When all keys are lost, stop the service and use --local.',
      exitCodes.misused,
    );
  }
  return { url: url.replace(/\/+$/, ''), key, close: async () => undefined };
}

async function send({ url, key }: Target, { method, path, body }: Request): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Failure(
      `Nothing answers at ${url} (${cause}). Is the service running? PARLEY_URL or --url says where; --local needs none.`,
      exitCodes.unreachable,
    );
  });
  const text = await response.text();
  const reply = parse(text);
  if (response.ok) return reply ?? text;
  throw new Failure(refusal(response.status, reply), exitCodes.refused);
}

/** Lists every fault that the service reports. */
function refusal(status: number, reply: unknown): string {
  const error = memberOf(reply, 'error');
  const several = memberOf(error, 'errors');
  const faults = Array.isArray(several) ? several : [error];
  const messages = faults.map((fault) => memberOf(fault, 'message')).filter((message) => typeof message === 'string');
  return messages.length === 0 ? `The service answered ${status}.` : `${messages.join('.\n')} (${status}).`;
}

function memberOf(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[member] : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
