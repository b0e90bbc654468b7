import { once } from 'node:events';
import { createServer, type ListenOptions } from 'node:net';
import type { Settings } from '../../settings.ts';

/** Where the system itself spreads connections over all processes that listen on a port. Elsewhere `node:cluster` does it. */
const spreadingPlatforms: readonly NodeJS.Platform[] = ['linux', 'freebsd', 'sunos', 'aix'];

/**
 * A process that listens beside others has a queue of its own: what was not taken from it when the process is killed is refused at once, and the client
 * asks again.
 */
export function shared({ port, host }: { readonly port: number; readonly host: string }): ListenOptions {
  return { port, host, reusePort: spreadingPlatforms.includes(process.platform) };
}

/**
 * The port that the processes are to share. They would also share one with the processes of another service, so it must be free.
 *
 * @throws Error as of listening when it is not.
 */
export async function findFreePort({ HOST, PORT }: Pick<Settings, 'HOST' | 'PORT'>): Promise<number> {
  const server = createServer().listen(PORT, HOST);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return address === null || typeof address === 'string' ? PORT : address.port;
}
