import { setTimeout as delay } from 'node:timers/promises';
import { createExtractor } from '../../../src/engine/knowledge/extract/extract.ts';
import { extractLimits } from './documents.ts';

/** A service that the test kills while a document never ends: prints the reader's process id once the reader is busy. */
const [pidPath = '', loopPath = ''] = process.argv.slice(2);
const extractor = createExtractor({ entry: new URL('./misbehaving-reader.ts', import.meta.url) });
const extract = (path: string) =>
  extractor.extract({ path, filename: path, mimeType: '' }, extractLimits, AbortSignal.timeout(20_000));
const { text } = await extract(pidPath);
const loop = extract(loopPath);
await Promise.race([loop, delay(300)]);
console.log(text);
await loop;
