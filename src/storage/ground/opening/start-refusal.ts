/** A refused start, for a reason that the operator can correct. The message says what is wrong and what to do. */
export class StartRefusal extends Error {
  override readonly name: string = 'StartRefusal';
}
