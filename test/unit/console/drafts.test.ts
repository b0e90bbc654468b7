import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FieldNode, Kind, type OperationDefinitionNode, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildSchema } from '../../../src/graphql/schema.ts';

const root = join(import.meta.dirname, '../../../console/src');
const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
const read = (name: string) => readFileSync(join(root, name), 'utf8');

/** The mutations that are refused when somebody else changed the draft of the agent since the caller read it. */
const guarded = Object.values(buildSchema().getMutationType()?.getFields() ?? {})
  .filter(({ args }) => args.some(({ name }) => name === 'expectedDraft'))
  .map(({ name }) => name);

/** They only add a source. A refusal would come when the whole file was sent, and save nothing of anybody from being replaced. */
const additions = ['addFileDataSource'];
/** They act upon the draft as a whole, at the revision whose changes the reader saw. */
const ofWholeDraft = ['publishAgent', 'rollbackAgent', 'discardAgentDraft', 'startCanary'];

interface Use {
  /** What sends it. */
  readonly operation: OperationDefinitionNode;
  readonly file: string;
  readonly field: FieldNode;
}

const uses: readonly Use[] = names
  .filter((name) => name.endsWith('.graphql'))
  .flatMap((file) =>
    parse(read(file)).definitions.flatMap((operation) =>
      operation.kind !== Kind.OPERATION_DEFINITION
        ? []
        : operation.selectionSet.selections.flatMap((field) =>
            field.kind === Kind.FIELD && guarded.includes(field.name.value) && !additions.includes(field.name.value)
              ? [{ operation, file, field }]
              : [],
          ),
    ),
  );

describe('the mutations of the console that change the draft of an agent', () => {
  it('are found', () => {
    expect(guarded.length).toBeGreaterThan(20);
    expect(uses.length).toBeGreaterThan(20);
  });

  it.each(uses.map((use) => [use.operation.name?.value, use] as const))(
    '%s names the revision that it was made for',
    (_name, use) => {
      const { operation, field } = use;
      const variable = operation.variableDefinitions?.find((definition) => definition.variable.name.value === 'expectedDraft');
      // Never null: TypeScript refuses a call that gives none.
      expect(variable === undefined ? undefined : print(variable)).toBe('$expectedDraft: Int!');
      expect(field.arguments?.map((argument) => print(argument))).toContain('expectedDraft: $expectedDraft');
    },
  );

  it('are sent by what looks at the changes of others first', () => {
    const parts = uses.filter(({ field }) => !ofWholeDraft.includes(field.name.value));
    const documents = [...new Set(parts.map(({ operation }) => `${operation.name?.value}Document`))];
    const sources = names.filter((name) => /\.tsx?$/.test(name) && !name.endsWith('documents.ts'));
    const withoutLooking = sources.filter((name) => {
      const text = read(name);
      const isSender = documents.some((document) => text.includes(document));
      return isSender && !/\b(?:changeDraft|addToDraft|usePartForm|useParts|Parts)\b/.test(text);
    });
    expect(withoutLooking).toEqual([]);
    // No file sends a revision that it read for nothing else than to send it.
    expect(sources.filter((name) => /expectedDraft: (?:null|undefined|\d)/.test(read(name)))).toEqual([]);
  });
});
