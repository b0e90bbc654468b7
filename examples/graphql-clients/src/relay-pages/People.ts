import { graphql } from 'relay-runtime';

graphql`
query PeopleQuery($first: Int = 50, $after: String) {
  memberships(first: $first, after: $after) {
    nodes { id role createdAt user { id name email } }
    pageInfo { endCursor hasNextPage }
    totalCount
  }
  groups(first: 50) {
    nodes {
      id
      name
      availability
      canEdit
      owner { id name }
      members(first: 20) {
        nodes { email createdAt user { id name } }
        totalCount
      }
    }
  }
}
`;
