/** What the promise gives, unless the signal fires first. The work goes on for others. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const abortion = Promise.withResolvers<never>();
  const abort = () => abortion.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, abortion.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
