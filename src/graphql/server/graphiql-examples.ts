/** Documents that GraphiQL opens with, one a tab. Each runs on a new instance as it stands, with any key that has the scopes. */
export const graphiqlExamples: readonly string[] = [
  `# Who you are, and the agents that you may use.
query Agents {
  viewer {
    user { name email }
    organization { name }
    scopes
  }
  agents(first: 20) {
    nodes { id name description modelId createdAt }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  `# Creates an agent that answers with the built-in model.
mutation CreateAgent {
  createAgent(input: {
    name: "Workshop help"
    src: ""
    description: "Answers questions about the bicycle workshop"
    instructions: "Answer briefly, from the knowledge you are given."
    modelId: "parley/offline"
  }) {
    id
    name
  }
}
`,
  `# Streams an answer: watch "text" grow while the model writes it.
# "model" may also be the id of an agent. A chat that is kept
# streams with messageEvents(chatId: …), after createChat.
subscription StreamChat {
  completionEvents(input: {
    model: "parley/offline"
    messages: [{
      role: "user"
      content: "What can you do?"
    }]
  }) {
    ... on TextDeltaEvent { text }
    ... on RunEndedEvent { run { text status error { message } } }
  }
}
`,
  `# The tokens that your organization used: in total, by agent, and by day.
query Usage {
  usage {
    organization { apiTokensUsed dataTokensUsed apiUsageTokenLimit }
    agents { agentId apiTokensUsed dataTokensUsed }
  }
  usageDays { day apiTokensUsed dataTokensUsed }
}
`,
  `# Runs one completion and waits for its answer. Nothing is kept.
mutation RunCompletion {
  createCompletion(input: {
    model: "parley/offline"
    messages: [{ role: "user", content: "What can you do?" }]
  }) {
    status
    text
    usage { inputTokens outputTokens totalTokens }
    selection { provider model }
  }
}
`,
];
