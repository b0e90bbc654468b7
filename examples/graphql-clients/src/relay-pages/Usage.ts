import { graphql } from 'relay-runtime';

graphql`
query UsageQuery($from: DateTime, $to: DateTime) {
  usage(from: $from, to: $to) {
    apiTokensUsed
    apiUsageTokenLimit
    dataTokensUsed
    dataUsageTokenLimit
    days(last: 31) {
      nodes { day apiTokensUsed dataTokensUsed }
    }
    agents(first: 20) {
      nodes { agent { id name } apiTokensUsed dataTokensUsed }
    }
    models(first: 20) {
      nodes { modelId apiTokensUsed }
    }
    users(first: 20) {
      nodes { user { id name } apiTokensUsed }
    }
  }
}

`;

graphql`
subscription UsageSubscription {
  usageChanged {
    node { apiTokensUsed apiUsageTokenLimit dataTokensUsed dataUsageTokenLimit }
  }
}
`;
