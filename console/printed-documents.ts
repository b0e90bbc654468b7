import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatDocument, stringifyDocument } from '@urql/core';
import { type DocumentNode, parse } from 'graphql';

/**
 * The documents of the console as it sends them, by the SHA-256 of their texts: a service with TRUSTED_DOCUMENTS runs no others for people who are signed
 * in. The client that caches asks for `__typename` in each; streams, uploads and queries past the cache send the text as it was generated.
 *
 * @param sources  the folder with the generated files `documents.ts`.
 */
export function printedDocuments(sources = join(import.meta.dirname, 'src')): Readonly<Record<string, string>> {
  const files = globSync('**/documents.ts', { cwd: sources }).sort();
  const written = files.flatMap((file) => documentsIn(readFileSync(join(sources, file), 'utf8')));
  const sent = written.flatMap((text) => {
    const query = parse(text, { noLocation: true });
    return [text, stringifyDocument(query), stringifyDocument(formatDocument(query) as DocumentNode)];
  });
  return Object.fromEntries([...new Set(sent)].map((text) => [createHash('sha256').update(text).digest('hex'), text]));
}

/** The texts in a generated file: `document<Result, Variables>("query …")`. */
function documentsIn(source: string): readonly string[] {
  return [...source.matchAll(/ = document<[^(]*>\(("(?:[^"\\]|\\.)*")\);/g)].map(
    ([, literal = '""']) => JSON.parse(literal) as string,
  );
}
