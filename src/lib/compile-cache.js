import { constants, enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// In JavaScript, as is all that runs before the cache is asked: TypeScript that is not in it makes Node load what strips types, which takes
// longer than these files do. In a folder of our own, because everybody may write into the one that all programs of a machine share.
const folder = fileURLToPath(new URL('../../.cache/compiled', import.meta.url));
if (enableCompileCache(folder).status === constants.compileCacheStatus.FAILED) enableCompileCache();

// Node writes what is new when it ends well. A process that is killed should have left it too.
const writeAfterMs = 3_000;
setTimeout(flushCompileCache, writeAfterMs).unref();
