import { graphql } from 'relay-runtime';

graphql`
query KeysQuery($first: Int = 50, $after: String) {
  apiKeys(first: $first, after: $after) {
    nodes {
      id
      name
      prefix
      scopes
      level
      createdAt
      lastUsedAt
      expiresAt
      revokedAt
      owner { id name email }
      createdBy { id name }
    }
    pageInfo { endCursor hasNextPage }
  }
}
`;
