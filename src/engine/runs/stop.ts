/**
 * Why a run was told to stop: the reason its signal carries. `shutdown`: this process ends. `lost`: another process took the run over, so
 * nothing may be written any more. `revoked`: the key that began it.
 */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lost' | 'paused' | 'revoked';

  constructor(kind: RunStop['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
