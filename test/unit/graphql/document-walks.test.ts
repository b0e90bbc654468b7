import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../../src', import.meta.url));

/**
 * Code that walks through the selections of a document, and why its work is bounded. A caller's document of a kilobyte can unfold to millions of
 * fields: other code must use `lib/selections.ts` and remember known selection sets.
 */
const walks: Readonly<Record<string, string>> = {
  'lib/selections.ts': 'unfolds each fragment once for each place',
  'graphql/conversations/runs/events/deltas-alone.ts': 'reads the fields of events once, and those of all their runs together',
  'graphql/server/document-limits.ts': 'counts the lists of each fragment once',
  'graphql/server/documents/json-schemas.ts': 'unfolds each fragment once for each object of a document whose cost was checked',
  'graphql/server/documents/run.ts': 'asks for the root fields of a saved document once',
  'graphql/server/events.ts': 'visits each node once, when a subscription begins',
  'graphql/server/operations.ts': 'asks for the root fields of an operation once',
  'graphql/ground/errors/document-faults.ts': 'visits each node once, after an error',
  'graphql/ground/builder/members.ts': 'reads each selection set once',
  'rest/documents/checks.ts': 'our own documents',
  'rest/documents/document.ts': 'our own documents',
  'rest/documents/enum-texts.ts': 'our own documents',
  'rest/documents/resolved-members.ts': 'our own documents',
  'rest/documents/shown-members.ts': 'our own documents',
  'rest/openapi/document.ts': 'our own documents',
  'rest/openapi/schemas.ts': 'our own documents',
};
const walking =
  /\bselectionSet\b|\bselections\b|\bFragmentDefinitionNode\b|import \{[^}]*\bvisit\b[^}]*\} from 'graphql'|\bcollect(?:Fields|Subfields)\b|\bTypeInfo\b/;

describe('walks over documents', () => {
  it('stand in the files that are known to be bounded, and nowhere else', () => {
    const found = sourceFiles().filter((file) => {
      const text = withoutComments(readFileSync(join(source, file), 'utf8'));
      return text.includes("from 'graphql") && walking.test(text);
    });
    expect(found.sort()).toEqual(Object.keys(walks).sort());
  });

  it('that execute a document bound the bytes of the reply', () => {
    const executing = sourceFiles().filter((file) => {
      const text = readFileSync(join(source, file), 'utf8');
      return /import \{[^}]*\b(?:execute|subscribe|graphql)\b[^}]*\} from 'graphql'/.test(text);
    });
    expect(executing.sort()).toEqual(['graphql/server/operations.ts', 'rest/call/handler.ts']);
    for (const file of executing) expect(readFileSync(join(source, file), 'utf8')).toContain('boundedResult(');
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|^import \{[^}]*\} from '\.[^']*';|\/\/.*$/gm, '');
}

function sourceFiles(): string[] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.parentPath.includes('generated'))
    .map((entry) => relative(source, join(entry.parentPath, entry.name)));
}
