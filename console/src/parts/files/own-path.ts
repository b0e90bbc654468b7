/** The part of an address of the service that leads there: its public address may be another than the one that the browser reached it by. */
export function ownPath(address: string): string {
  const { pathname, search } = new URL(address, location.origin);
  return pathname + search;
}
