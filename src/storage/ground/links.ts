/** The things of each owner, in the order of the links. A thing of several owners becomes one object. */
export function byOwner<T extends { readonly id: string }>(
  links: readonly { readonly ownerId: string; readonly thing: T }[],
): ReadonlyMap<string, readonly T[]> {
  const shared = new Map(links.map(({ thing }) => [thing.id, thing]));
  const owned = new Map<string, T[]>();
  for (const { ownerId, thing } of links) {
    const things = owned.get(ownerId) ?? [];
    owned.set(ownerId, things);
    things.push(shared.get(thing.id) ?? thing);
  }
  return owned;
}
