import { Bash } from 'just-bash';

/** Reads a program from standard input and writes its output as one JSON text. Runs only in the box: see box.ts. */
const outputMax = 100_000;
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part as Buffer);
const code = Buffer.concat(parts).toString();
const shell = new Bash({ python: true, files: { '/home/user/main.py': code }, cwd: '/home/user' });
const { stdout, stderr, exitCode } = await shell.exec('python3 /home/user/main.py');
const answer = JSON.stringify({ stdout: stdout.slice(0, outputMax), stderr: stderr.slice(-outputMax), exitCode });
process.stdout.write(answer, () => process.exit(0));
