/** A start that is refused for a reason that the operator can mend. The message says in plain words what is wrong and what to do. */
export class StartRefusal extends Error {
  override readonly name: string = 'StartRefusal';
}
