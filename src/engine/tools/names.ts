const lengthMax = 64;

/** A function name that providers take: other characters become `_`. */
export function functionName(baseName: string): string {
  return baseName.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, lengthMax);
}

/** The same, with a number where the name is taken. */
export function freeFunctionName(baseName: string, takenNames: ReadonlySet<string>): string {
  const plain = functionName(baseName);
  if (!takenNames.has(plain)) return plain;
  for (let number = 2; ; number += 1) {
    const suffix = `_${number}`;
    const name = plain.slice(0, lengthMax - suffix.length) + suffix;
    if (!takenNames.has(name)) return name;
  }
}

/** The function name of a tool of an MCP server. */
export function mcpFunctionName(server: string, tool: string): string {
  return functionName(`${server}__${tool}`);
}
