import graphql from '@graphql-eslint/eslint-plugin';

/** Judges schema.graphql by the rules of others; everything else is Biome's. */
export default [
  {
    files: ['schema.graphql'],
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: './schema.graphql' } } },
    plugins: { '@graphql-eslint': graphql },
    rules: {
      ...graphql.configs['flat/schema-recommended'].rules,
      ...graphql.configs['flat/schema-relay'].rules,
      // Lists that are short by nature need no pages (`AgentProfile.features`), and a connection has `nodes` beside its edges. Pages hold parts of a
      // thing too, which have no identity of their own: members of a group, passages, tokens of a day, items of a run, entries of another service.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
      // Relay wants one direction at least. Entries of other services and items of conversations have cursors that lead forward only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      // Parts of a thing have no identity of their own: options, usage, steps, connections. test/unit/graphql checks that what has an id is a Node.
      '@graphql-eslint/strict-id-in-types': 'off',
    },
  },
];
