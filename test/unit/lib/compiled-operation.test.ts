import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLError,
  Kind,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { describe, expect, it } from 'vitest';
import { CompiledOperation, type KeptArguments } from '../../../src/lib/compiled-operation/compiled-operation.ts';
import { leafFields, type OddContext, objectFields, oddSchema, plainFields, sourceOf } from '../../support/apis/odd-schema.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** A selection of fields, as text. Two fields of one name in the reply are always the same field with the same arguments. */
const { selection } = fc.letrec<{ selection: string; item: string }>((tie) => ({
  selection: fc.array(tie('item'), { minLength: 1, maxLength: 5 }).map((items) => items.join(' ')),
  item: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { arbitrary: fc.constantFrom(...leafFields, ...plainFields), weight: 6 },
    { arbitrary: fc.constantFrom(...leafFields).map((name) => `also_${name}: ${name}`), weight: 2 },
    {
      arbitrary: fc.constantFrom(
        'echo(must: 1)',
        'e2: echo(must: $n, number: $n)',
        'e3: echo(must: 1, in: { numbers: [1, $n] })',
      ),
      weight: 1,
    },
    { arbitrary: fc.constantFrom('e4: echo(must: 1, in: $in)', 'e5: echo(must: $maybe)', '...Leaves', '...OfA'), weight: 1 },
    {
      arbitrary: fc.tuple(fc.constantFrom(...objectFields), tie('selection')).map(([name, inner]) => `${name} { ${inner} }`),
      weight: 5,
    },
    {
      arbitrary: fc
        .tuple(switches(), fc.constantFrom('on A', 'on B', 'on Base', ''), tie('selection'))
        .map(([on, type, inner]) => `... ${type} ${on} { ${inner} }`),
      weight: 2,
    },
    { arbitrary: fc.tuple(switches(), fc.constantFrom(...leafFields)).map(([on, name]) => `${name} ${on}`), weight: 2 },
  ),
}));

function switches() {
  return fc.constantFrom(
    '',
    '@skip(if: $yes)',
    '@include(if: $yes)',
    '@include(if: $no)',
    '@skip(if: true)',
    '@include(if: true) @skip(if: $no)',
  );
}

const operations = fc.record({
  kind: fc.constantFrom('query', 'query', 'mutation', 'subscription'),
  body: selection,
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  variables: fc.record(
    {
      n: fc.constantFrom(0, 7),
      yes: fc.boolean(),
      no: fc.boolean(),
      in: fc.constantFrom({}, { text: 'x' }, null),
      maybe: fc.constantFrom(1, null),
    },
    { requiredKeys: ['n', 'yes'] },
  ),
});

const head = '($n: Int!, $yes: Boolean!, $no: Boolean! = false, $in: In, $maybe: Int = 3)';

function documentOf(kind: string, body: string): string {
  return `${kind} ${head} { ${kind === 'subscription' ? `child { ${body} }` : body} }
    fragment Leaves on Base { text mustText plain kind }
    fragment OfA on A { id number method child { ... on B { texts } ...Leaves } }`;
}

const budget = undefined;
const rules = specifiedRules.filter(({ name }) => !['NoUnusedFragmentsRule', 'NoUnusedVariablesRule'].includes(name));

/** The operation of a valid document; undefined when it is not valid. */
function runnable(text: string, schema = oddSchema): Runnable | undefined {
  const document = parse(text);
  if (validate(schema, document, rules).length > 0) return undefined;
  const node = document.definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (node === undefined) throw new Error('there is no operation');
  return { document, node, compiled: new CompiledOperation(schema, document, node) };
}

interface Runnable {
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  readonly compiled: CompiledOperation;
}

type Run = (args: { rootValue: object; contextValue: OddContext }) => ExecutionResult | Promise<ExecutionResult>;

/** The text of the reply, its errors in a defined order, and the resolvers that were called. */
async function shown(seed: number, run: Run): Promise<Shown> {
  const calls: string[] = [];
  const { data, errors = [] } = await run({ rootValue: sourceOf(seed), contextValue: { seed, waits: seed % 2 === 0, calls } });
  return { data: JSON.stringify(data), errors: errors.map(shownError).sort(), calls };
}

interface Shown {
  readonly data: string;
  readonly errors: readonly string[];
  readonly calls: readonly string[];
}

function shownError({ message, path, locations }: GraphQLError): string {
  return JSON.stringify([ownWords.find((words) => words.test(message))?.source ?? message, path, locations]);
}

/** Faults of a schema, which graphql-js describes at greater length: only logs show them. */
const ownWords = [
  /^Abstract type|^Runtime Object|^".*" was resolved to/,
  /^Expected value of type/,
  /^Expected `.*serialize|wrote nothing/,
];

const orderedSchema = buildSchema('type Query { none: Int } type Mutation { slow(name: String!): Int }');
const slow = orderedSchema.getMutationType()?.getFields().slow ?? expect.fail();
slow.resolve = async (_root, { name }, log: string[]) => {
  log.push(`${name} begins`);
  await new Promise(setImmediate);
  log.push(`${name} ends`);
};

describe('a compiled operation', () => {
  it('answers what graphql-js answers, whatever is asked and however the resolvers behave', async () => {
    let compared = 0;
    let withData = 0;
    await fc.assert(
      fc.asyncProperty(operations, async ({ kind, body, seed, variables }) => {
        const operation = runnable(documentOf(kind, body));
        if (operation === undefined) return;
        const { document, compiled } = operation;
        let expected: Shown | undefined;
        const kept: KeptArguments = new Map();
        const { coerced = {} } = getVariableValues(oddSchema, operation.node.variableDefinitions ?? [], variables);
        // Compiled once and run several times: nothing of earlier runs remains.
        for (const turn of [seed + 1, seed]) {
          expected = await shown(turn, (args) => execute({ schema: oddSchema, document, variableValues: variables, ...args }));
          expect(await shown(turn, (args) => compiled.execute({ variableValues: variables, budget, ...args }))).toEqual(expected);
          const again = await shown(turn, (args) => compiled.executeCoerced({ variableValues: coerced, budget, ...args }, kept));
          expect(again).toEqual(expected);
        }
        compared += 1;
        if (expected?.data !== 'null') withData += 1;
      }),
      { numRuns: propertyRuns(800) },
    );
    expect(compared).toBeGreaterThan(propertyRuns(200));
    expect(withData).toBeGreaterThan(propertyRuns(50));
  });

  it('answers introspection and names that are no plain members as graphql-js does', async () => {
    for (const text of [
      '{ __schema { queryType { name } } text }',
      '{ __type(name: "A") { name } }',
      '{ __proto__: plain text }',
    ]) {
      const { document, compiled } = runnable(text) ?? expect.fail(text);
      const expected = await shown(4, (args) => execute({ schema: oddSchema, document, ...args }));
      expect(await shown(4, (args) => compiled.execute({ variableValues: {}, budget, ...args }))).toEqual(expected);
    }
  });

  it('reports invalid variables before anything runs', async () => {
    const { document, compiled } = runnable('query ($n: Int!) { echo(must: $n) }') ?? expect.fail();
    const variableValues = { n: 'seven' };
    const contextValue = { seed: 1, waits: false, calls: [] };
    const expected = await execute({ schema: oddSchema, document, variableValues, contextValue });
    expect(await compiled.execute({ variableValues, contextValue, budget })).toEqual(expected);
    expect(contextValue.calls).toEqual([]);
  });

  it('runs the fields of a mutation one after the other', async () => {
    const { compiled } =
      runnable('mutation { first: slow(name: "first") second: slow(name: "second") }', orderedSchema) ?? expect.fail();
    const log: string[] = [];
    await compiled.execute({ variableValues: {}, contextValue: log, budget });
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });
});
