import { graphql } from 'relay-runtime';

graphql`
query RunQuery($id: ID!) {
  run(id: $id) {
    id
    kind
    status
    createdAt
    startedAt
    endedAt
    durationMs
    firstTokenMs
    cost
    modelId
    agent { id name }
    user { id name }
    chat { id name }
    usage { inputTokens outputTokens cachedTokens reasoningTokens }
    error { code message }
    retrieval { mode passageCount bestScore nearPassages { title score } }
    steps {
      __typename
      offsetMs
      durationMs
      status
      errorCode
      ... on ModelCallStep { modelId cost usage { inputTokens outputTokens } }
      ... on RetrievalStep { question passages { title score } }
      ... on ToolCallStep { name }
      ... on SubagentStep { name cost }
    }
    citations { id index name url }
  }
}
`;
