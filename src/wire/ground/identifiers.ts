import { z } from 'zod';

const identifier = (description: string) => z.string().max(512).meta({ description });

/** What a caller of either format names its end users and its caches by; it is handed on to the provider of the model. */
export const identifiers = {
  user: identifier('A name of your own for your end user, handed on to the provider of the model.'),
  safetyIdentifier: identifier('The newer name of `user` for the prevention of abuse; handed on to the provider of the model.'),
  promptCacheKey: identifier('Requests that begin alike and name the same key share a cache, where the provider has one.'),
};
