import { graphql } from 'relay-runtime';

graphql`
subscription RunEventsSubscription($runId: ID!, $after: Int) {
  runEvents(runId: $runId, after: $after) {
    __typename
    sequence
    runId
    ... on TextDelta { itemId delta }
    ... on ReasoningDelta { itemId delta }
    ... on CitationAdded { citation { id index name url snippet } }
    ... on ToolCallStarted { call { id name arguments } }
    ... on ToolCallCompleted { call { id name } }
    ... on ToolCallFailed { call { id name } }
    ... on RunEnded {
      run {
        id
        status
        incompleteReason
        error { code message }
        usage { inputTokens outputTokens }
        toolCalls { id name arguments approval }
      }
    }
  }
}
`;
