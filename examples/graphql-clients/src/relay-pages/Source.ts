import { graphql } from 'relay-runtime';

graphql`
query SourceQuery($id: ID!, $items: Int = 50, $after: String, $status: [IndexStatus!]) {
  dataSource(id: $id) {
    id
    name
    type
    indexStatus
    indexPercentage
    errorCode
    errorMessage
    refreshPeriod
    canEdit
    cite
    owner { id name }
    agents(first: 20) {
      nodes { id name src }
    }
    connection { id accountName }
    settings {
      __typename
      ... on WebUrlSettings { url }
    }
    statistics { totalCount doneCount indexingCount pendingCount failedCount }
    items(first: $items, after: $after, status: $status) {
      nodes { id name indexStatus indexPercentage errorCode errorMessage isRetryable tokenCount indexedAt }
      pageInfo { endCursor hasNextPage }
    }
    runs(first: 10) {
      nodes { id trigger status startedAt endedAt durationMs addedCount changedCount removedCount failedCount errorMessage }
    }
  }
}
`;
