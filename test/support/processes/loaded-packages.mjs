import { writeSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Prints each package that a process loads, once, and the files that import node:http. Load it in Node with --import. It writes to standard output,
// like the process's own message that it listens: the order between two outputs is not defined.
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
