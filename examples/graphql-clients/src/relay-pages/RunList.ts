import { graphql } from 'relay-runtime';

graphql`
query RunListQuery($filter: RunFilter, $first: Int = 50, $after: String) {
  runs(filter: $filter, first: $first, after: $after) {
    nodes {
      id
      kind
      status
      createdAt
      durationMs
      firstTokenMs
      cost
      modelId
      agent { id name }
      user { id name }
      key { id name }
      chat { id name }
      usage { inputTokens outputTokens }
      error { code message }
      ratedUpCount
      ratedDownCount
    }
    pageInfo { endCursor hasNextPage }
  }
  unansweredQuestions(first: 5) {
    nodes { reason question run { id createdAt } passages { title score } }
  }
}

`;

graphql`
subscription RunListSubscription {
  runsChanged {
    kind
    id
    node { id kind status createdAt modelId }
  }
}
`;
