import { z } from 'zod';
import { crawlBounds, webUrlFileTypes } from '../../../../entities/knowledge/data-source.ts';
import { SourceError } from '../error.ts';

const { maxPages, maxMemory, timeout } = crawlBounds;
const globs = z.array(z.string()).default([]);
const schema = z.object({
  url: z.url({ protocol: /^https?$/ }),
  includeFiles: z.boolean().default(false),
  includedFileTypes: z.array(z.enum(webUrlFileTypes)).default([]),
  includeUrlGlobs: globs,
  excludeUrlGlobs: globs,
  /** Pages. */
  maxPages: z.number().int().min(1).max(maxPages.max).default(maxPages.default),
  /** MB. */
  maxMemory: z.number().min(1).max(maxMemory.max).default(maxMemory.default),
  /** Seconds. */
  timeout: z.number().positive().max(timeout.max).default(timeout.default),
});

/** What the person who added a web source asked for. */
export type WebConfiguration = Readonly<z.infer<typeof schema>>;

/** Reads the `data` of a source. @throws SourceError CONFIGURATION */
export function readWebConfiguration(data: Readonly<Record<string, unknown>>): WebConfiguration {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  throw new SourceError('CONFIGURATION', `The configuration of this web source cannot be read (${faults}). Add the site again.`);
}
