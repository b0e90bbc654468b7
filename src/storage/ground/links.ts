/** The things of each owner, in the order of the links. A thing of several owners becomes one object. */
export function byOwner<T extends { readonly id: string }>(
  links: readonly { readonly ownerId: string; readonly thing: T }[],
): ReadonlyMap<string, readonly T[]> {
  const thingsById = new Map(links.map(({ thing }) => [thing.id, thing]));
  const thingsByOwner = new Map<string, T[]>();
  for (const { ownerId, thing } of links) {
    const things = thingsByOwner.get(ownerId) ?? [];
    thingsByOwner.set(ownerId, things);
    things.push(thingsById.get(thing.id) ?? thing);
  }
  return thingsByOwner;
}
