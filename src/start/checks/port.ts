import { once } from 'node:events';
import { createServer } from 'node:net';
import { displayValue } from '../../lib/text/display-value.ts';
import type { Settings } from '../../settings.ts';
import { type Finding, findCode, good, wrong } from './finding.ts';

type Address = Pick<Settings, 'HOST' | 'PORT' | 'METRICS_PORT'>;
const lastReservedPort = 1023;

/** Why Parley cannot listen; undefined for an error of another kind. */
export function listenProblem(error: unknown, { HOST, PORT, METRICS_PORT }: Address): Finding | undefined {
  const host = displayValue('HOST', HOST);
  const isMetrics = METRICS_PORT !== undefined && error instanceof Error && 'port' in error && error.port === METRICS_PORT;
  const [name, port] = isMetrics ? ['METRICS_PORT', METRICS_PORT] : ['PORT', PORT];
  switch (findCode(error)) {
    case 'EADDRINUSE':
      return wrong(
        'port',
        `${name} ${port} of ${host} is taken: another process listens there.`,
        isMetrics ? 'Stop that process, or set another METRICS_PORT.' : 'Stop that process, or set PORT; 0 takes any free one.',
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return wrong(
        'port',
        `HOST must be an address or a name of this machine, not ${host}.`,
        'Set HOST to 127.0.0.1 for this machine alone, or to 0.0.0.0 or :: for all that reach it.',
      );
    case 'EACCES':
      return wrong(
        'port',
        `This process may not listen on ${name} ${port}.`,
        `Ports up to ${lastReservedPort} need more rights. Set a higher ${name}${isMetrics ? '' : ', and put a proxy in front'}.`,
      );
    default:
      return undefined;
  }
}

/** Listens for a moment, as a start would. A port on which a Parley answers is good too. */
export async function checkPort(settings: Address): Promise<Finding> {
  const { HOST, PORT } = settings;
  const server = createServer();
  try {
    server.listen(PORT, HOST);
    await once(server, 'listening');
    return good('port', PORT === 0 ? `Parley can listen on ${HOST}.` : `Port ${PORT} of ${HOST} is free.`);
  } catch (error) {
    if (findCode(error) === 'EADDRINUSE' && (await isParley(settings)))
      return good('port', `Parley is running on port ${PORT} of ${HOST}.`);
    return (
      listenProblem(error, settings) ?? wrong('port', `Parley cannot listen on port ${PORT} of ${HOST} (${findCode(error)}).`)
    );
  } finally {
    server.close();
  }
}

async function isParley({ HOST, PORT }: Address): Promise<boolean> {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST;
  try {
    const reply = await fetch(`http://${host}:${PORT}/openapi.json`, { signal: AbortSignal.timeout(2_000) });
    return (await reply.text()).includes('"Parley');
  } catch {
    return false;
  }
}
