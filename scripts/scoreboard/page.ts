import type { Line, Section } from './sections.ts';

/** What a run found of one section. */
export interface Result {
  readonly commit: string;
  readonly machine: string;
  /** Of the day, in UTC. */
  readonly date: string;
  /** Of the machine when the run began: other work makes figures of speed worse. */
  readonly load: number;
  readonly lines: readonly Line[];
}
export type Results = Readonly<Record<string, Result>>;

/** docs/scoreboard.md: all that was measured, with what is not best. */
export function printPage(sections: readonly Section[], results: Results): string {
  const parts = sections.map(
    (section) => `## ${section.title}\n\n${section.about}\n\n${printResult(section, results[section.name])}`,
  );
  return `# Scoreboard

Printed by \`npm run scoreboard\` from runs; nobody writes here, and a test holds it equal to what the runs left ([scoreboard.json](scoreboard.json)). \`npm run scoreboard -- --only NAME\` measures one section (${sections.map(({ name }) => `\`${name}\``).join(', ')}). A line that is not the best stays in.

${parts.join('\n\n')}
`;
}

function printResult(section: Section, result: Result | undefined): string {
  if (result === undefined) return `Not measured yet: \`npm run scoreboard -- --only ${section.name}\`.`;
  const { commit, machine, date, load, lines } = result;
  const [head = [], ...rest] = section.columns.length > 0 ? [section.columns, ...lines] : lines;
  const table = [toRow(head), toRow(head.map(() => '---')), ...rest.map(toRow)].join('\n');
  return `${table}\n\nCommit ${commit}, ${date}, ${machine}, load ${load.toFixed(1)} at the start.`;
}

function toRow(cells: Line): string {
  return `| ${cells.join(' | ')} |`;
}
