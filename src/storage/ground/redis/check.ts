import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { displayValue } from '../../../lib/text/display-value.ts';
import { connectRedis } from './link.ts';

/** What keeps Redis from being used. */
export interface RedisProblem {
  /** Whether it stays until somebody changes a setting. Otherwise Redis may come back by itself, and the start goes on. */
  readonly isLasting: boolean;
  readonly message: string;
  readonly advice: string;
}

const timeoutMs = 3_000;
const oldest = [6, 2] as const;

/** By the beginning of an error of Redis: what is the matter, and what to do. */
const refusals: readonly (readonly [RegExp, string, string])[] = [
  [
    /^WRONGPASS|invalid password|invalid username-password/i,
    'the user or the password is wrong',
    'Correct them in REDIS_URL; signs in them are percent-encoded.',
  ],
  [/^NOAUTH/, 'it wants a password', 'Put it into REDIS_URL: redis://:password@host:6379.'],
  [/without any password configured|no password is set/, 'it knows no password', 'Take the password out of REDIS_URL.'],
  [
    /^NOPERM/,
    'its user lacks a right',
    'Allow the user the keys parley:* and the commands of streams, sorted sets and scripts, INFO, PEXPIRE and DEL (docs/redis.md).',
  ],
  [/^READONLY/, 'it is a read-only replica', 'Name the primary server in REDIS_URL.'],
  [/unknown command|wrong number of arguments|syntax error/i, 'it is too old', 'Use Redis 6.2, Valkey 7.2, or a newer one.'],
  [/DB index|SELECT is not allowed/i, 'it has no such database', 'Correct the number at the end of REDIS_URL.'],
  [/^DENIED/, 'it is in protected mode', 'Set a password there, and name it in REDIS_URL.'],
];

/** Whether REDIS_URL can be used: it is Redis, lets this process in, is new enough, and may be written to. Changes nothing that is kept. */
export async function redisProblem(url: string): Promise<RedisProblem | undefined> {
  const at = `Redis at ${displayValue('REDIS_URL', url)}`;
  try {
    const greeting = await firstBytes(url);
    if (!/^[+-]/.test(greeting)) {
      const message = `What answers at ${displayValue('REDIS_URL', url)} is no Redis.`;
      return { isLasting: true, message, advice: 'Correct REDIS_URL; a Redis with TLS needs rediss://.' };
    }
    return await useProblem(url, at);
  } catch (error) {
    return toProblem(error, at);
  }
}

async function useProblem(url: string, at: string): Promise<RedisProblem | undefined> {
  const link = await connectRedis(url, () => undefined);
  try {
    const [, major = '0', minor = '0'] =
      /^redis_version:(\d+)\.(\d+)/m.exec(String(await link.command('', ['INFO', 'server']))) ?? [];
    const [oldestMajor, oldestMinor] = oldest;
    if (Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor)) {
      const advice = 'Use Redis 6.2, Valkey 7.2, or a newer one.';
      return { isLasting: true, message: `${at} is version ${major}.${minor}.`, advice };
    }
    const key = 'parley:check';
    await link.command(key, ['XADD', key, 'MAXLEN', '1', '*', 'check', '1']);
    await link.command(key, ['PEXPIRE', key, '1000']);
    return undefined;
  } finally {
    link.close();
  }
}

function toProblem(error: unknown, at: string): RedisProblem {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const [, reason, advice] = refusals.find(([pattern]) => pattern.test(message)) ?? [];
  if (reason !== undefined && advice !== undefined) {
    return { isLasting: true, message: `${at} cannot be used: ${reason}.`, advice };
  }
  const isOfTls = /certificate|SSL|TLS/i.test(message);
  const text = displayValue('', message === '' ? readCode(error) : message);
  return {
    isLasting: isOfTls,
    message: `${at} cannot be used now: ${text}.`,
    advice: isOfTls
      ? 'Correct the host in REDIS_URL, or name the authority in NODE_EXTRA_CA_CERTS.'
      : 'See whether it runs, and whether REDIS_URL is right.',
  };
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}

/** What the server says first to a PING. @throws Error when nothing is said in time. */
function firstBytes(url: string): Promise<string> {
  const { protocol, hostname, port } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 6_379 : Number(port) };
  return new Promise((resolve, reject) => {
    const socket: Socket = protocol === 'rediss:' ? connectTls({ ...address, servername: address.host }) : connectTcp(address);
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer came within ${timeoutMs} ms`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed without an answer')));
    socket.once('data', (bytes) => {
      resolve(bytes.toString('latin1'));
      socket.destroy();
    });
    socket.write('PING\r\n');
  });
}
