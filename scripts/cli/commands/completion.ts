import { misused } from '../failure.ts';
import { ownNouns, verbs, writtenCommands } from './written.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
const everywhere = ['--json', '--url', '--key', '--help'];

/** The script that makes a shell complete the commands of `parley`. @throws Failure for another shell. */
export function completionScript(shell: string | undefined): string {
  if (shell === 'bash') return bash();
  if (shell === 'zsh') return `autoload -U +X bashcompinit && bashcompinit\n${bash()}`;
  if (shell === 'fish') return fish();
  throw misused(`completion needs a shell: ${shells.join(', ')}. For example: source <(parley completion bash)`);
}

export const completionHelp = `parley completion ${shells.join('|')}

Prints a script that makes the shell complete commands and options. It is for a command that is called parley; where there is none, make it, in the folder of Parley:

  npm link

Example:
  bash, zsh   source <(parley completion bash)
  fish        parley completion fish | source`;

/** The options of each command, by the words of its name. */
function optionsByName(): ReadonlyMap<string, readonly string[]> {
  return new Map(writtenCommands.map(({ name, options }) => [name, options.map((option) => `--${option.name}`)]));
}

function bash(): string {
  const nouns = [...verbs.keys(), ...ownNouns].join(' ');
  const ofNoun = [...verbs].map(([noun, names]) => `    ${noun}) words="${names.filter((name) => name !== '').join(' ')}" ;;`);
  const ofName = [...optionsByName()].map(
    ([name, options]) => `    "${name}"${name.includes(' ') ? '' : "' '*"}) options="$options ${options.join(' ')}" ;;`,
  );
  return `_parley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" noun="\${COMP_WORDS[1]}" verb="\${COMP_WORDS[2]}" words="" options="${everywhere.join(' ')}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${nouns}" -- "$current"))
    return
  fi
  case "$noun" in
${ofNoun.join('\n')}
    completion) words="${shells.join(' ')}" ;;
    secrets) words="rotate" ;;
  esac
  case "$noun $verb" in
${ofName.join('\n')}
  esac
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *)
      if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
      if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
      ;;
  esac
}
complete -F _parley parley
`;
}

function fish(): string {
  const first = `not __fish_seen_subcommand_from ${[...verbs.keys()].join(' ')}`;
  const options = optionsByName();
  return [
    ...[...verbs.keys(), ...ownNouns].map((noun) => `complete -c parley -f -n '${first}' -a '${noun}'`),
    ...[...verbs].flatMap(([noun, names]) => {
      const named = names.filter((name) => name !== '');
      const second = `__fish_seen_subcommand_from ${noun}; and not __fish_seen_subcommand_from ${named.join(' ')}`;
      return named.length === 0 ? [] : [`complete -c parley -n '${second}' -a '${named.join(' ')}'`];
    }),
    ...[...options].flatMap(([name, taken]) => {
      const [noun = '', verb] = name.split(' ');
      const when = `__fish_seen_subcommand_from ${noun}${verb === undefined ? '' : `; and __fish_seen_subcommand_from ${verb}`}`;
      return taken.map((option) => `complete -c parley -n '${when}' -l ${option.slice(2)}`);
    }),
    `complete -c parley -n '__fish_seen_subcommand_from completion' -f -a '${shells.join(' ')}'`,
    ...everywhere.map((option) => `complete -c parley -l ${option.slice(2)}`),
    '',
  ].join('\n');
}
