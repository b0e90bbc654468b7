import packageJson from '../../package.json' with { type: 'json' };

const command = / exec node (.+)$/.exec(packageJson.scripts.start)?.[1];
if (command === undefined) throw new Error('the script start of package.json has no "exec node"');

/** The flags of Node that `npm start` gives the service. What it runs beside the service has flags of its own. */
export const flagsOfStart: readonly string[] = command.match(/--\S+/g) ?? [];

/** The variables that `npm start` sets for the allocator of the system. */
export const environmentOfStart: Readonly<Record<string, string>> = Object.fromEntries(
  packageJson.scripts.start.match(/\bMALLOC_\w+=\S+/g)?.map((word) => word.split('=')) ?? [],
);
