/** Names of the caller's own end users. */
export const identifiers = {
  user: 'A name of your own for your end user, handed on to the provider of the model.',
  safetyIdentifier: 'The newer name of `user` for the prevention of abuse; handed on to the provider of the model.',
  promptCacheKey: 'Requests that begin alike and name the same key share a cache, where the provider has one.',
} as const;
