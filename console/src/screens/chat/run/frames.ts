const waitMaxMs = 250;

/** Calls before the next frame is drawn, or soon where none comes: a tab that is hidden draws none, also one that is hidden after this. @returns a function that keeps it from being called */
export function callAtFrame(call: () => void): () => void {
  const cancel = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
  const callOnce = () => {
    cancel();
    call();
  };
  const frame = requestAnimationFrame(callOnce);
  const timer = setTimeout(callOnce, waitMaxMs);
  return cancel;
}
