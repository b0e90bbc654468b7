/** Whether a caller accepts members that the service adds to a common format: some stock clients fail on unknown ones. */
export function takesExtensions(header: ((name: string) => string | undefined) | undefined): boolean {
  return header?.('x-parley-extensions')?.toLowerCase() !== 'off';
}
