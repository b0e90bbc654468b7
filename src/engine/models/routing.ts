/** How a request chooses among the providers of its model. */
export interface ProviderRouting {
  /** Ids of providers, the first one first; empty: the usual order. */
  readonly order: readonly string[];
  /** Whether others may answer when these do not. */
  readonly allowsFallbacks: boolean;
}

/**
 * The models to try, in order.
 *
 * @param chain   full ids: the model of the request and its fallbacks, as they are configured.
 * @param offers  whether a provider is known to have a model of this full id.
 * @returns `[]` when no provider of the order has the model and others may not answer.
 */
export function routedChain(
  chain: readonly string[],
  { order, allowsFallbacks }: ProviderRouting,
  offers: (modelId: string) => boolean,
): readonly string[] {
  const [primary = ''] = chain;
  const name = primary.slice(primary.indexOf('/') + 1);
  const providerOrder = order.flatMap((provider) => {
    const own = chain.filter((id) => id.startsWith(`${provider}/`));
    if (own.length > 0) return own;
    const same = `${provider}/${name}`;
    return offers(same) ? [same] : [];
  });
  if (order.length === 0) return allowsFallbacks ? chain : chain.slice(0, 1);
  return [...new Set(allowsFallbacks ? [...providerOrder, ...chain] : providerOrder)];
}
