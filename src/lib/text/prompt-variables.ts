/** What stands in a text as `{{name}}`, `{{name=default}}`, `{{name: one | two}}` or `{{name: one | two = two}}`. */
export interface PromptVariable {
  readonly name: string;
  /** null: it must be given. */
  readonly default: string | null;
  /** Empty: any text. */
  readonly choices: readonly string[];
}

interface Piece {
  readonly text: string;
  /** Absent: the text stands as it is. */
  readonly variable?: PromptVariable;
}

const [open, close] = ['{{', '}}'];
const insideMax = 1_000;
const nameShape = /^[\p{L}\p{N}_][\p{L}\p{N}_ -]{0,49}$/u;

/** The variables of a text in its order, each once: the first place that has a default or choices says what they are. */
export function findVariables(text: string): readonly PromptVariable[] {
  const variables = new Map<string, PromptVariable>();
  for (const { variable } of splitPieces(text)) {
    if (variable === undefined) continue;
    const before = variables.get(variable.name);
    if (before === undefined || isPlain(before)) variables.set(variable.name, variable);
  }
  return [...variables.values()];
}

/** The text with values in place of its variables; a variable without a value stays as it stands. */
export function fillVariables(text: string, values: ReadonlyMap<string, string>): string {
  return splitPieces(text)
    .map((piece) => (piece.variable === undefined ? piece.text : (values.get(piece.variable.name) ?? piece.text)))
    .join('');
}

function isPlain({ default: value, choices }: PromptVariable): boolean {
  return value === null && choices.length === 0;
}

/** Braces around anything else are text. Cost: linear. */
function splitPieces(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let at = text.indexOf(open);
  while (at !== -1) {
    const end = text.slice(at, at + insideMax).indexOf(close);
    const variable = end === -1 ? undefined : readVariable(text.slice(at + open.length, at + end));
    if (variable === undefined) {
      at = text.indexOf(open, at + 1);
      continue;
    }
    pieces.push({ text: text.slice(from, at) }, { text: text.slice(at, at + end + close.length), variable });
    from = at + end + close.length;
    at = text.indexOf(open, from);
  }
  pieces.push({ text: text.slice(from) });
  return pieces;
}

function readVariable(inside: string): PromptVariable | undefined {
  const [head, ...defaults] = inside.split('=');
  const [name = '', ...lists] = (head ?? '').split(':');
  if (!nameShape.test(name.trim())) return undefined;
  const choices =
    lists.length === 0
      ? []
      : lists
          .join(':')
          .split('|')
          .map((choice) => choice.trim())
          .filter((choice) => choice !== '');
  const value = defaults.length === 0 ? null : defaults.join('=').trim();
  return { name: name.trim(), default: value, choices: [...new Set(choices)] };
}
