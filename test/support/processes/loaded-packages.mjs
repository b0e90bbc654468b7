import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Says which packages a process loads, each once, and who imports node:http: give it to Node with --import. On standard output, where the
// process says that it listens: what comes by two ways comes in any order.
const seen = new Set();
registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'node:http' && context.conditions.includes('import')) writeSync(1, 'loads node:http\n');
    return next(specifier, context);
  },
  load(url, context, next) {
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      writeSync(1, `loads ${name}\n`);
    }
    return next(url, context);
  },
});
