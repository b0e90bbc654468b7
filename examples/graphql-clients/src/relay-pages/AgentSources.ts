import { graphql } from 'relay-runtime';

graphql`
query AgentSourcesQuery($agentId: ID!, $first: Int = 30, $after: String) {
  agent(id: $agentId) {
    id
    name
    sources(first: $first, after: $after) {
      nodes {
        id
        name
        type
        indexStatus
        indexPercentage
        errorCode
        errorMessage
        lastIndexedAt
        refreshPeriod
        owner { id name }
        connection { id accountName needsReauthorization }
        statistics { totalCount doneCount indexingCount pendingCount failedCount }
        activeRun { id status listedCount currentItem }
      }
      pageInfo { endCursor hasNextPage }
    }
  }
}

`;

graphql`
subscription AgentSourcesSubscription {
  dataSourcesChanged {
    kind
    id
    node { id indexStatus indexPercentage errorMessage statistics { totalCount doneCount failedCount } }
  }
}
`;
