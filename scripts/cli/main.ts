import { existsSync } from 'node:fs';
import { runCommand } from './run.ts';

if (existsSync('.env')) process.loadEnvFile('.env');
const { code, out, err } = await runCommand(process.argv.slice(2), process.env);
process.stdout.write(out);
process.stderr.write(err);
// An embedded database leaves a worker thread that would keep the process alive.
process.exit(code);
