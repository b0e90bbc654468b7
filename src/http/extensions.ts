/** Whether a caller takes what the service adds to a common format: some stock clients fail on what they do not know. */
export function takesExtensions(header: ((name: string) => string | undefined) | undefined): boolean {
  return header?.('x-parley-extensions')?.toLowerCase() !== 'off';
}
