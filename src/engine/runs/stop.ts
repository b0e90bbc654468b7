/**
 * Why a run was told to stop; the reason of its signal. `shutdown`: this process ends. `lost`: another process took the run over,
 * so this one may write nothing. `revoked`: the key that began it was revoked.
 */
export class RunStop extends Error {
  override readonly name = 'RunStop';
  readonly kind: 'cancelled' | 'timeout' | 'shutdown' | 'lost' | 'paused' | 'revoked';

  constructor(kind: RunStop['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}
