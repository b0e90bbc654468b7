import { graphql } from 'relay-runtime';

graphql`
query SidebarQuery($agents: Int = 20, $chats: Int = 30) {
  viewer {
    role
    user { id name email }
  }
  agents(first: $agents) {
    nodes { id name src }
  }
  chats(first: $chats) {
    nodes { id name updatedAt pinPosition isUnread activeRunId agent { id name src } }
    pageInfo { endCursor hasNextPage }
  }
}


`;

graphql`
subscription SidebarSubscription {
  chatsChanged {
    kind
    id
    node { id name updatedAt pinPosition isUnread activeRunId }
  }
}
`;
