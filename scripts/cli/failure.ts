/** How the command ends: done, refused or failed, typed wrongly. */
export const exitCodes = { good: 0, failed: 1, misused: 2 } as const;

/** A failure shown to the user of the command line, in plain sentences. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function failed(message: string): Failure {
  return new Failure(message, exitCodes.failed);
}

export function misused(message: string): Failure {
  return new Failure(message, exitCodes.misused);
}
