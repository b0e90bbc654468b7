/**
 * Lets PostgreSQL take its shared memory without touching it. Changes one loop of the program, on its way to the compiler.
 *
 * PostgreSQL asks once for 140 MB of shared memory, nearly all of it buffers for pages. The `mmap` of Emscripten fills it with zeros, so all
 * of it is resident from the start, used or not. Here `mmap` reads the memory first and writes zeros only where there is something else. The
 * result is the same; but memory that is new is only read, and the operating system gives no page for that.
 *
 * A trick that stays: some 115 MB of resident memory. Reasons and figures: docs/decisions/embedded-database.md.
 *
 * @param program  a WebAssembly module. One without the known loop is returned as it is: it works, with more memory. A test looks for that.
 */
export function leaveMemoryUntouched(program: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  const at = program.indexOf(fill);
  if (at === -1 || program.indexOf(fill, at + 1) !== -1) return program;
  const lengths = lengthsAround(program, at);
  if (lengths === undefined) return program;
  const addedBytes = fillWhereNeeded.length - fillAll.length;
  const changed = Buffer.concat([program.subarray(0, at), fillWhereNeeded, program.subarray(at + fillAll.length)]);
  return lengths.every((length) => addTo(changed, length, addedBytes)) ? changed : program;
}

/** memset(memory, 0, length): the arguments are in the locals 4 and 6, the function has the number of pglite 0.5.14. */
const fillAll = Buffer.from('20044100200610c3681a', 'hex');
/** What `mmap` does next tells its fill from others: it keeps the end of the memory in local 6, and the start in what is there. */
const fill = Buffer.concat([fillAll, Buffer.from('200420066a2206200436020020064281808080703703', 'hex')]);

/** The same, in words of eight bytes from the end to the start; the length is a multiple of 16. Local 7 is free in this branch. */
const fillWhereNeeded = Buffer.from(
  [
    '200420066a2107', // local7 = local4 + local6
    '02400340', // block, loop
    '200720044d0d01', // leave the block when local7 <= local4
    '200741086b2207', // local7 -= 8
    '290300500d00', // repeat when the word at local7 is zero
    '20074200370300', // word at local7 = 0
    '0c000b0b', // repeat; end of the loop, end of the block
  ].join(''),
  'hex',
);

const codeSection = 10;
const headerBytes = 8;

/** A length in LEB128: seven bits a byte, and a bit that says whether more follow. */
interface Length {
  readonly at: number;
  readonly end: number;
  readonly value: number;
}

/** The lengths that count the byte at `target`: of the code section, and of the function. */
function lengthsAround(program: Buffer, target: number): readonly Length[] | undefined {
  for (let at = headerBytes; at < program.length; ) {
    const section = readLength(program, at + 1);
    if (target < section.end + section.value) {
      const body = program[at] === codeSection ? functionAround(program, section, target) : undefined;
      return body === undefined ? undefined : [section, body];
    }
    at = section.end + section.value;
  }
  return undefined;
}

function functionAround(program: Buffer, section: Length, target: number): Length | undefined {
  const count = readLength(program, section.end);
  for (let [index, at] = [0, count.end]; index < count.value; index += 1) {
    const body = readLength(program, at);
    at = body.end + body.value;
    if (target < at) return body;
  }
  return undefined;
}

function readLength(program: Buffer, at: number): Length {
  let [value, end, byte] = [0, at, 0];
  do {
    byte = program[end] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (end - at));
    end += 1;
  } while (byte >= 0x80);
  return { at, end, value };
}

/** Writes a longer length in the place of a length. False when it needs more bytes than that had. */
function addTo(program: Buffer, { at, end, value }: Length, added: number): boolean {
  let rest = value + added;
  for (let place = at; place < end; place += 1) {
    program[place] = (rest % 0x80) | (place < end - 1 ? 0x80 : 0);
    rest = Math.floor(rest / 0x80);
  }
  return rest === 0;
}
