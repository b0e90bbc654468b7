const pattern = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether the host of a URL is this machine. @param hostname  as `URL` has it: IPv6 in brackets. */
export function isLoopback(hostname: string): boolean {
  return pattern.test(hostname);
}
