import { graphql } from 'relay-runtime';

graphql`
query AgentListQuery($first: Int = 30, $after: String, $search: String, $scope: AgentListScope, $since: DateTime) {
  agents(first: $first, after: $after, search: $search, scope: $scope) {
    nodes {
      id
      name
      description
      src
      visibility
      updatedAt
      rating
      ratingCount
      owner { id name }
      groups { id name }
      model { id provider }
      usage(from: $since) { apiTokensUsed dataTokensUsed }
      feedback { up down }
    }
    pageInfo { endCursor hasNextPage }
    totalCount
    isTotalCountExact
  }
}

`;

graphql`
subscription AgentListSubscription {
  agentsChanged {
    kind
    id
    node { id name description visibility updatedAt }
  }
}
`;
