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
  'graphql/server/unfolding.ts': 'counts what it walks against GRAPHQL_FIELDS_MAX',
  'graphql/server/operations.ts': 'asks for the root fields of an operation once',
  'graphql/builder/members.ts': 'reads each selection set once',
  'graphql/builder/observed.ts': 'asks for the root fields of an operation once',
  'rest/documents/checks.ts': 'our own documents',
  'rest/documents/document.ts': 'our own documents',
  'rest/openapi/document.ts': 'our own documents',
  'rest/openapi/schemas.ts': 'our own documents',
  'rest/documents/subscribe.ts': 'our own documents',
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

  it('that validate a document of a caller bound the work of the rules of graphql-js first', () => {
    const users = sourceFiles().filter((file) =>
      /\bspecifiedRules\b|\bvalidate\(/.test(readFileSync(join(source, file), 'utf8')),
    );
    const ofGraphql = users.filter((file) => readFileSync(join(source, file), 'utf8').includes("from 'graphql'"));
    // rest/documents/document.ts checks only Parley's own documents.
    expect(ofGraphql.sort()).toEqual(['graphql/server/document-limits.ts', 'rest/documents/document.ts']);
    expect(readFileSync(join(source, 'graphql/server/document-limits.ts'), 'utf8')).toContain('unfoldingFault(');
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
