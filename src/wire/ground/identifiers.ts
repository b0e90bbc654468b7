import { z } from 'zod';

const identifier = z.string().max(512);

/** What a caller of either format names its end users and its caches by; it is handed on to the provider of the model. */
export const identifiers = { user: identifier, safetyIdentifier: identifier, promptCacheKey: identifier };
