import type { Screen } from '../output/screen.ts';
import type { Service } from '../service.ts';

/** What a command gets to do its work. */
export interface CommandContext {
  readonly service: Service;
  readonly screen: Screen;
  /** What was typed behind the name of the command. */
  readonly words: readonly string[];
  /** The last value of each `--name value`; of an option that is a list, all values with commas between them. */
  readonly options: ReadonlyMap<string, string>;
  readonly switches: ReadonlySet<string>;
  /** Fires at Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface CommandOption {
  readonly name: string;
  /** What is shown for its value; absent for a switch. */
  readonly value?: string;
  /** It may be given several times. */
  readonly isList?: true;
  readonly meaning: string;
}

/** A command that is more than one call of the REST interface. */
export interface WrittenCommand {
  /** One or two words: `ask`, `sources add`. */
  readonly name: string;
  /** What follows the name: `"<question>"`. */
  readonly takes?: string;
  /** The fewest and the most words that follow; a question may be any number. */
  readonly words: readonly [number, number];
  readonly summary: string;
  readonly details?: string;
  readonly options: readonly CommandOption[];
  /** Whether it takes --local. */
  readonly worksOnData?: true;
  /** Behind the name of the program. */
  readonly example: string;
  /** @returns false when a part of the work failed; the command ends with 1 then. */
  run(context: CommandContext): Promise<boolean>;
}

export const agentOption: CommandOption = {
  name: 'agent',
  value: 'name or id',
  meaning: 'The agent. Without it: your only agent.',
};
