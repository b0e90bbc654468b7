import graphql from '@graphql-eslint/eslint-plugin';

/**
 * Judges schema.graphql by the rules of others; everything else is Biome's. eslint-suppressions.json counts what is not mended yet: members of third-party
 * formats, connections that read one way, edges of things that are no Node. Nothing is added to it; `npx eslint schema.graphql --prune-suppressions` takes
 * away what was mended.
 */
export default [
  {
    files: ['schema.graphql'],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: './schema.graphql' } } },
    plugins: { '@graphql-eslint': graphql },
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      // Lists that are short by nature need no pages (`AgentProfile.features`), and a connection has `nodes` beside its edges.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: true, listTypeCanWrapOnlyEdgeType: false },
      ],
      // Parts of a thing have no identity of their own: options, usage, steps, connections. test/unit/graphql checks that what has an id is a Node.
      '@graphql-eslint/strict-id-in-types': 'off',
    },
  },
];
