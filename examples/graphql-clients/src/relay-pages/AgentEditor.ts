import { graphql } from 'relay-runtime';

graphql`
query AgentEditorQuery($id: ID!) {
  agent(id: $id) {
    id
    name
    description
    instructions
    introduction
    seed
    src
    visibility
    chatLogsVisible
    generateCitations
    intermediateStepsVisible
    canEdit
    canManage
    isApprovedByOrg
    owner { id name }
    editors { id name email }
    groups { id name }
    model { id provider contextTokensMax isPremium }
    options { temperature topP topK maxTokens maxInputTokens frequencyPenalty presencePenalty }
    enabledTools { __typename type }
    tools { id name type description }
    skills { id name description enabled }
    flows { id name enabled versions { version active description } }
    userInputs { id label variableName type orderIndex showOnChatCreate }
    secrets { id key secretType hasValue origins }
    sources(first: 50) {
      nodes { id name type indexStatus indexPercentage }
    }
  }
  models { id provider isPremium }
}
`;
