import { Transform } from 'node:stream';

const notification = 'A'.charCodeAt(0);

/** Passes on the messages of a PostgreSQL server, without notifications while `isMuted`. */
export function notificationFilter(isMuted: () => boolean): Transform {
  let pending = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pending = Buffer.concat([pending, chunk]);
      const passed: Buffer[] = [];
      while (pending.length >= 5) {
        const end = 1 + pending.readInt32BE(1);
        if (pending.length < end) break;
        if (pending[0] !== notification || !isMuted()) passed.push(pending.subarray(0, end));
        pending = pending.subarray(end);
      }
      done(null, Buffer.concat(passed));
    },
  });
}
