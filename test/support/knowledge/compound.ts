import { createRequire } from 'node:module';

const { CFB } = createRequire(import.meta.url)('@e965/xlsx') as typeof import('@e965/xlsx');

/** A compound file with these streams. */
export function compound(streams: Readonly<Record<string, Uint8Array>>): Buffer {
  const file = CFB.utils.cfb_new();
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, content);
  return Buffer.from(CFB.write(file, { type: 'array' }) as Uint8Array);
}
