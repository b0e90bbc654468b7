import { type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { SearchEntry } from '../../http/page/search-entry.ts';
import { sampleDocument } from './sample-document.ts';

const kinds = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' } as const;

/** Every operation of GraphQL, each with the address of GraphiQL that shows a document for it. */
export function graphqlSearchEntries(schema: GraphQLSchema): readonly SearchEntry[] {
  return Object.values(OperationTypeNode).flatMap((operation) =>
    Object.values(schema.getRootType(operation)?.getFields() ?? {}).map((field): SearchEntry => {
      const { query, variables } = sampleDocument(schema, operation, field);
      const parameters = new URLSearchParams(variables === '' ? { query } : { query, variables });
      const descriptionText = (field.description ?? '').replace(/\s+/g, ' ').trim();
      return {
        kind: 'graphql',
        title: field.name,
        detail: `${kinds[operation]}. ${descriptionText}`.trim(),
        address: `/graphql?${parameters}`,
        text: field.args.map(({ name }) => name).join(' '),
      };
    }),
  );
}
