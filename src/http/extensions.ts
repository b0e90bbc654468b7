import type { IncomingHttpHeaders } from 'node:http';

const switchHeader = 'x-parley-extensions';
/** Left out by the path of the request, and not by its own word. */
const byPath = 'by-path';

/** Whether a caller accepts members that the service adds to a common format: some stock clients fail on unknown ones. */
export function takesExtensions(header: ((name: string) => string | undefined) | undefined): boolean {
  return !['off', byPath].includes(header?.(switchHeader)?.toLowerCase() ?? 'on');
}

/** Whether a caller gets images that tools made: many clients of the common format show them, and others pass over them. */
export function takesImages(header: ((name: string) => string | undefined) | undefined): boolean {
  return header?.(switchHeader)?.toLowerCase() !== 'off';
}

/** For a request whose body says so. */
export function switchOffExtensions(headers: IncomingHttpHeaders): void {
  headers[switchHeader] = 'off';
}

/** For a path that only stock clients use: extensions are left out unless the request asks for them. */
export function leaveOutExtensions(headers: IncomingHttpHeaders): void {
  headers[switchHeader] ??= byPath;
}
