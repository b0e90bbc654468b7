import { existsSync } from 'node:fs';
import { buildSchema } from '../../src/graphql/schema.ts';
import { type Request, readTyped, type Typed } from './arguments.ts';
import { commandNamed, commandsOf } from './commands.ts';
import { exitCodes, Failure, misused } from './failure.ts';
import { openLocal, type Target } from './local.ts';
import { help, helpOf, secretsHelp, shown } from './print.ts';
import { readCommand } from './read-command.ts';
import { rotateSecrets, shownRotation } from './secrets.ts';

/**
 * `npm run parley -- <noun> <verb> [--member value …]`: calls one operation of the REST interface, of the service that runs, or with --local
 * of the data itself.
 */
try {
  if (existsSync('.env')) process.loadEnvFile('.env');
  await main(readTyped(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  console.error(error.message);
  process.exitCode = error.exitCode;
}
// An embedded database leaves a worker behind that would keep the process waiting.
process.exit();

async function main(typed: Typed): Promise<void> {
  const schema = buildSchema();
  const commands = commandsOf(schema);
  const [noun = 'help', verb] = typed.words;
  if (noun === 'help') {
    console.log(help(commands));
    return;
  }
  if (noun === 'secrets' && typed.switches.has('help')) {
    console.log(secretsHelp);
    return;
  }
  if (typed.switches.has('help')) {
    console.log(helpOf(commandNamed(commands, noun, verb)));
    return;
  }
  if (noun === 'secrets') {
    if (verb !== 'rotate' || typed.words.length > 2) throw misused('secrets can be rotated: npm run parley -- secrets rotate');
    const rotation = await rotateSecrets(process.env);
    console.log(typed.switches.has('json') ? JSON.stringify(rotation, null, 2) : shownRotation(rotation));
    return;
  }
  const { request, url } = readCommand(commands, typed);
  const target = typed.switches.has('local') ? await openLocal(schema, process.env) : remote(url);
  try {
    const body = await send(target, request);
    console.log(typed.switches.has('json') ? JSON.stringify(body, null, 2) : shown(body));
  } finally {
    await target.close();
  }
}

function remote(given: string | undefined): Target {
  const url = given ?? process.env.PARLEY_URL ?? 'http://127.0.0.1:4000';
  if (!URL.canParse(url) || !/^https?:/.test(url)) throw misused(`"${url}" is no http(s) address.`);
  const key = process.env.PARLEY_KEY;
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

/** Every fault that the service names. */
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
