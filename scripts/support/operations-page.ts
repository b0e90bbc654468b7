import type { GraphQLSchema } from 'graphql';
import { compileRoutes, type Route } from '../../src/rest/compile.ts';
import type { DeclaredRoute } from '../../src/rest/route.ts';

/** One operation of both APIs. */
export interface OperationLine {
  /** The contract's name of the operation; '' for an operation that the contract does not have. */
  readonly contract: string;
  /** `GET /api/v1/ais`, or '' for an operation of GraphQL only. */
  readonly rest: string;
  /** `Query.agents` */
  readonly graphql: string;
}

/** Every operation: the routes in their order, then the operations of GraphQL only. */
export function operationLines(schema: GraphQLSchema, rows: readonly DeclaredRoute[]): readonly OperationLine[] {
  const routes = compileRoutes(schema, rows);
  const ofRows = routes.map((route) => {
    const { row } = route;
    return { contract: row.spec ?? '', rest: `${row.method.toUpperCase()} ${row.path}`, graphql: rootFieldOf(route) };
  });
  const covered = new Set(ofRows.map(({ graphql }) => graphql));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const names = roots.flatMap((root) =>
    Object.values(root?.getFields() ?? {}).map((field) => `${root?.name ?? ''}.${field.name}`),
  );
  const others = names.filter((name) => !covered.has(name));
  return [...ofRows, ...others.map((graphql) => ({ contract: '', rest: '', graphql }))];
}

/** The text of docs/operations.md. */
export function operationsPage(lines: readonly OperationLine[], missing: Readonly<Record<string, string>>): string {
  const rows = lines
    .filter(({ rest }) => rest !== '')
    .map(({ contract, rest, graphql }) => `| ${contract} | \`${rest}\` | \`${graphql}\` |`);
  const others = lines.filter(({ rest }) => rest === '').map(({ graphql }) => `\`${graphql}\``);
  const gaps = Object.entries(missing).map(([name, reason]) => `- ${name}: ${reason}`);
  return [
    '# Operations',
    '',
    'Every operation: its name in the contract (empty for additions), its REST route and its GraphQL field. Both APIs run the same',
    'resolver. `test/contract/authorization` calls each operation as every kind of caller.',
    '',
    '| operation of the contract | REST | GraphQL |',
    '| --- | --- | --- |',
    ...rows,
    '',
    `On GraphQL only: ${others.join(', ')}.`,
    '',
    ...(gaps.length === 0 ? [] : ['Not there yet:', '', ...gaps, '']),
    'This page is printed from the routes in `src/rest/routes` and the schema by `npm run operations`.',
    '',
  ].join('\n');
}

function rootFieldOf({ main }: Route): string {
  return `${main.rootType.name}.${main.rootField.name}`;
}
