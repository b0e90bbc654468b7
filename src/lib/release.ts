/**
 * Empties a batch that its only reader is done with. Every generator between the source and the reader holds on to the array until the next
 * one is asked for; a hundred readers that stop reading would keep all of its text.
 */
export function release(batch: readonly unknown[]): void {
  (batch as unknown[]).length = 0;
}
