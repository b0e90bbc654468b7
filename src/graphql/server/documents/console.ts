import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../../lib/json/json.ts';

const builtFile = join(import.meta.dirname, '../../../../console/dist/documents.json');

/**
 * The documents of the console by the SHA-256 of their text, as its build has printed them. Those of a build that another has replaced since stay: pages
 * that were opened before send them.
 */
export class ConsoleDocuments {
  readonly #file: string;
  readonly #texts = new Map<string, string>();
  #readOf = 0;

  constructor(file = builtFile) {
    this.#file = file;
  }

  /** Looks into the file only for a hash that is not known, and only when the file is another one. */
  find(hash: string): string | undefined {
    const text = this.#texts.get(hash);
    if (text !== undefined) return text;
    const { mtimeMs = 0 } = statSync(this.#file, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs === this.#readOf) return undefined;
    this.#readOf = mtimeMs;
    for (const [known, document] of readDocuments(this.#file)) this.#texts.set(known, document);
    return this.#texts.get(hash);
  }
}

function readDocuments(file: string): readonly (readonly [hash: string, text: string])[] {
  const documents: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!isObject(documents)) return [];
  return Object.entries(documents).flatMap(([hash, text]) => (typeof text === 'string' ? [[hash, text] as const] : []));
}
