import type { IncomingHttpHeaders } from 'node:http';

const switchHeader = 'x-parley-extensions';

/** Whether a caller accepts members that the service adds to a common format: some stock clients fail on unknown ones. */
export function takesExtensions(header: ((name: string) => string | undefined) | undefined): boolean {
  return header?.(switchHeader)?.toLowerCase() !== 'off';
}

/** For a request whose body says so. */
export function switchOffExtensions(headers: IncomingHttpHeaders): void {
  headers[switchHeader] = 'off';
}

/** For a path that only stock clients use: extensions are left out unless the request asks for them. */
export function leaveOutExtensions(headers: IncomingHttpHeaders): void {
  headers[switchHeader] ??= 'off';
}
