import { graphql } from 'relay-runtime';

graphql`
query AuditLogQuery($first: Int = 50, $after: String, $action: String, $actorUserId: ID, $targetId: ID, $from: DateTime, $to: DateTime) {
  auditLog(first: $first, after: $after, action: $action, actorUserId: $actorUserId, targetId: $targetId, from: $from, to: $to) {
    nodes {
      id
      createdAt
      action
      kind
      outcome
      count
      actorEmail
      actor { id name }
      key { id name }
      targetKind
      targetId
      changes { member value }
      address
    }
    pageInfo { endCursor hasNextPage }
  }
}
`;
