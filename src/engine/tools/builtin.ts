/**
 * The service's tools, by the type that enables them in a request, with the names that the model sees. While a tool is enabled, a
 * caller's function cannot have its name.
 */
export const builtinTools: Readonly<Record<string, readonly string[]>> = {
  web_search: ['web_search'],
  web_search_preview: ['web_search'],
  python: ['python'],
  code_interpreter: ['python'],
  image_generation: ['image_generation'],
  mcp_server: [],
  spreadsheet: ['spreadsheet'],
  memory: ['memory'],
  sandbox: ['sandbox'],
  deep_research: ['deep_research'],
};

const readOnly: readonly string[] = ['web_search', 'deep_research'];

/** Whether a service tool only reads, so that it may be used where no action is wanted. */
export function isReadOnly(name: string): boolean {
  return readOnly.includes(name);
}
