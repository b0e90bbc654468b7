import { graphql } from 'relay-runtime';

graphql`
query ChatQuery($id: ID!, $last: Int = 50, $before: String) {
  chat(id: $id) {
    id
    name
    canWrite
    agent { id name description src introduction seed modelId }
    activeRun { id status startedAt }
    messages(last: $last, before: $before) {
      nodes {
        ...Chat_message
      }
      pageInfo { startCursor hasPreviousPage }
    }
  }
}

`;

graphql`
fragment Chat_message on Message {
  id
  createdAt
  role
  content
  isComplete
  siblingIndex
  siblingCount
  parts {
    __typename
    ... on TextPart { text }
    ... on FilePart { file { id filename mimeType size url } }
    ... on ImagePart { url }
  }
  citations { id index name url snippet page answerStart answerEnd }
  toolCalls { id name arguments approval }
  feedback { rating tags comment }
  error { code message }
  run { id status modelId usage { inputTokens outputTokens } }
}


`;

graphql`
subscription ChatSubscription($chatId: ID!) {
  messagesChanged(chatId: $chatId) {
    kind
    id
    node {
      ...Chat_message
    }
  }
}
`;
