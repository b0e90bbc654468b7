import { registerHooks } from 'node:module';

const forbidden =
  /^(?:node:)?(?:net|tls|dgram|dns|dns\/promises|http|https|http2|child_process|cluster|inspector|inspector\/promises|worker_threads)$/;

/** Takes the modules and functions that reach the network from this process, before a library is loaded. Node 26 cannot deny it by default. */
export function takeNetworkAway(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (forbidden.test(specifier)) throw new Error(`${specifier} is not for readers of documents`);
      return next(specifier, context);
    },
  });
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']) Reflect.deleteProperty(globalThis, name);
  Reflect.deleteProperty(process, 'getBuiltinModule');
}
