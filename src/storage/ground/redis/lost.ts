/** Redis does not answer, and is tried again: a warning, which its cause explains. */
export class RedisLost extends Error {
  override readonly name = 'RedisLost';

  constructor(cause: unknown) {
    super('Redis does not answer; changes of other instances are looked up in the database', { cause });
  }
}
