import { startCommand } from '../../src/lib/product.ts';
import { readTyped, type Typed } from './arguments.ts';
import type { WrittenCommand } from './commands/command.ts';
import { completionHelp, completionScript } from './commands/completion.ts';
import { commandNameOf, writtenCommandOf } from './commands/written.ts';
import { exitCodes, Failure, failed, misused } from './failure.ts';
import { suggestion } from './nearest.ts';
import { help, helpOf, helpOfWritten, secretsHelp, shown } from './output/help.ts';
import { harmless, type Screen } from './output/screen.ts';
import { commandOf, readCommand, targetOptions } from './read-command.ts';
import { Service, targetOf } from './service.ts';

/**
 * `parley <command> [--option value …]`: works with a service that runs, or with `--local` on the data itself.
 *
 * @param signal  fires at Ctrl-C: what runs for the command is cancelled.
 * @returns the exit code of the process. Every failure is told in plain sentences.
 */
export async function runCommand(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  screen: Screen,
  signal: AbortSignal,
): Promise<number> {
  try {
    const typed = readTyped(words);
    if (typed.words[0] === 'upgrade') return await checkOrUndoUpgrade(typed, env, screen);
    return (await perform(typed, env, screen, signal)) ? exitCodes.good : exitCodes.failed;
  } catch (error) {
    screen.progress('');
    if (signal.aborted) {
      screen.err('\nCancelled.\n');
      return exitCodes.failed;
    }
    if (!(error instanceof Failure)) throw error;
    screen.err(`${harmless(error.message)}\n`);
    return error.exitCode;
  }
}

async function perform(typed: Typed, env: NodeJS.ProcessEnv, screen: Screen, signal: AbortSignal): Promise<boolean> {
  const program = env.npm_lifecycle_event === 'parley' ? 'npm run -s parley --' : 'parley';
  const say = (text: string) => {
    screen.out(text.endsWith('\n') ? text : `${text}\n`);
    return true;
  };
  const isHelp = typed.switches.has('help');
  const [noun, verb] = typed.words;
  if (noun === undefined && typed.options.size > 0)
    throw misused(
      `--${[...typed.options.keys()].join(', --')} stands without a command. What the service is told are variables of the environment: ${startCommand} takes no options. Type ${program} help.`,
    );
  if (noun === undefined || (noun === 'help' && verb === undefined)) return say(help(program));
  if (noun === 'help')
    return perform({ ...typed, words: typed.words.slice(1), switches: new Set(['help']) }, env, screen, signal);
  if (noun === 'completion') return say(isHelp ? completionHelp : completionScript(verb));
  if (noun === 'secrets') return isHelp ? say(secretsHelp) : say(await secrets(typed, env));
  if (noun === 'search-index') {
    const { searchIndexHelp, rebuildSearchIndex } = await import('./search-index.ts');
    if (isHelp) return say(searchIndexHelp);
    if (verb !== 'rebuild' || typed.words.length > 2)
      throw misused('The search index can be built anew: parley search-index rebuild');
    return say(await rebuildSearchIndex(env, screen, signal));
  }
  if (noun === 'doctor') {
    const { text, isGood } = await (await import('./doctor.ts')).doctor(typed, env);
    return say(text) && isGood;
  }
  if (noun === 'move') return say(await (await import('./move.ts')).moveData(typed, env, screen));
  if (noun === 'upgrade') return (await checkOrUndoUpgrade(typed, env, screen)) === exitCodes.good;
  const name = commandNameOf(noun, verb);
  const written = writtenCommandOf(name);
  if (written !== undefined)
    return isHelp ? say(helpOfWritten(written, program)) : runWritten(written, typed, env, screen, signal);
  // Operations need the schema, which takes a moment to build.
  const [{ buildSchema }, { commandsOf }] = await Promise.all([import('../../src/graphql/schema.ts'), import('./commands.ts')]);
  const schema = buildSchema();
  const commands = commandsOf(schema);
  const asTyped = { ...typed, words: [name.noun, name.verb, ...typed.words.slice(2)] };
  if (isHelp) return say(helpOf(commandOf(commands, asTyped), program));
  const { operationId } = commandOf(commands, asTyped).route.row;
  const { method, path, body } = readCommand(commands, asTyped);
  const local = typed.switches.has('local') ? await (await import('./local.ts')).openLocal(schema, env) : undefined;
  try {
    const reply = await new Service(local ?? targetOf(typed.options, env), signal).send(method, path, body);
    return say(typed.switches.has('json') ? JSON.stringify(reply, null, 2) : shown(reply, operationId));
  } finally {
    await local?.close();
  }
}

/** It ends with codes of its own. */
async function checkOrUndoUpgrade(typed: Typed, env: NodeJS.ProcessEnv, screen: Screen): Promise<number> {
  const { text, exitCode } = await (await import('./upgrade.ts')).upgrade(typed, env);
  screen.out(`${text}\n`);
  return exitCode;
}

async function secrets({ words, switches }: Typed, env: NodeJS.ProcessEnv): Promise<string> {
  if (words[1] !== 'rotate' || words.length > 2) throw misused('secrets can be rotated: parley secrets rotate');
  const { rotateSecrets, shownRotation } = await import('./secrets.ts');
  const rotation = await rotateSecrets(env);
  return switches.has('json') ? JSON.stringify(rotation, null, 2) : shownRotation(rotation);
}

async function runWritten(
  command: WrittenCommand,
  { words: typedWords, options: given, switches }: Typed,
  env: NodeJS.ProcessEnv,
  screen: Screen,
  signal: AbortSignal,
): Promise<boolean> {
  const { name, takes, options: known } = command;
  const words = typedWords.slice(name.split(' ').length);
  const [least, most] = command.words;
  const isLocal = switches.has('local');
  if (isLocal && command.worksOnData !== true)
    throw failed(`${name} needs a running service: start it with ${startCommand}, and leave --local away.`);
  if (words.length < least) throw misused(`${name} needs ${takes}. Type ${name} --help to see an example.`);
  if (words.length > most)
    throw misused(`${name} does not take "${words.slice(most).join(' ')}". Options are written as --name value.`);
  const lists = new Set(known.filter(({ isList }) => isList === true).map((option) => option.name));
  const joined = (option: string, values: readonly string[]) => (lists.has(option) ? values.join(',') : (values.at(-1) ?? ''));
  const options = new Map(
    [...given].filter(([option]) => !targetOptions.has(option)).map(([option, values]) => [option, joined(option, values)]),
  );
  const names = known.map((option) => option.name);
  for (const option of options.keys()) {
    if (names.includes(option)) continue;
    const taken = names.length === 0 ? 'It takes none.' : `It takes ${names.map((one) => `--${one}`).join(', ')}.`;
    throw misused(`${name} does not take --${option}.${suggestion(option, names)} ${taken}`);
  }
  const local = isLocal ? await openLocalData(env) : undefined;
  try {
    const service = new Service(local ?? targetOf(given, env), signal);
    return await command.run({ service, screen, words, options, switches, signal });
  } finally {
    await local?.close();
  }
}

async function openLocalData(env: NodeJS.ProcessEnv) {
  const [{ buildSchema }, { openLocal }] = await Promise.all([import('../../src/graphql/schema.ts'), import('./local.ts')]);
  return openLocal(buildSchema(), env);
}
