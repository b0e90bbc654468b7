/** Why a run was told to stop: the reason its signal carries. */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly kind: 'cancelled' | 'timeout' | 'lost';

  /** `lost`: another process took the run over, so nothing may be written any more. */
  constructor(kind: RunStop['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
