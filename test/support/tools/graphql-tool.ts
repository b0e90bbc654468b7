// biome-ignore lint/suspicious/noExplicitAny: tools of any type, in snake_case or camelCase.
type Flat = any;

/** A tool as GraphQL takes it, of one that REST takes: `{type: 'web_search', …}` → `{webSearch: {…}}`. */
export function graphqlTool(tool: object): object {
  const { type, ...given } = camel(tool, ofCaller);
  if (type === 'function') {
    const { function: own = given } = given;
    return { function: { ...own, parameters: own.parameters ?? undefined } };
  }
  const { id, name, serverId, server = serverId ?? id ?? name, ...rest } = given;
  switch (type) {
    case 'web_search': {
      const { searchContextSize: size, filters, userLocation, ...others } = rest;
      return {
        webSearch: defined({
          ...others,
          ...filters,
          contextSize: size?.toUpperCase(),
          userLocation: userLocation === undefined ? undefined : { ...userLocation, type: undefined },
        }),
      };
    }
    case 'file_search': {
      const { maxNumResults, rankingOptions, filters, ...others } = rest;
      const filter = filters === undefined ? undefined : graphqlFilter(filters);
      return {
        fileSearch: defined({ ...others, filter, resultsMax: maxNumResults, scoreMin: rankingOptions?.scoreThreshold }),
      };
    }
    case 'image_generation': {
      const { n, inputImage, background, outputFormat, moderation, inputFidelity, model = name, ...others } = rest;
      return {
        imageGeneration: defined({
          ...others,
          ...{ model, count: n, inputImageId: inputImage, background: background?.toUpperCase() },
          ...{ outputFormat: outputFormat?.toUpperCase(), moderation: moderation?.toUpperCase() },
          inputFidelity: inputFidelity?.toUpperCase(),
        }),
      };
    }
    case 'mcp_server': {
      const { serverLabel, allowedTools, secrets, ...others } = rest;
      return {
        mcpServer: defined({
          ...others,
          ...{ server: server ?? serverLabel, allowedTools: filterOf(allowedTools), secrets: named(secrets) },
        }),
      };
    }
    case 'mcp': {
      const { allowedTools, requireApproval, headers, ...others } = rest;
      const approval =
        typeof requireApproval === 'object'
          ? { byTool: defined({ always: filterOf(requireApproval.always), never: filterOf(requireApproval.never) }) }
          : { everyCall: requireApproval === true || requireApproval === 'always' };
      return {
        mcp: defined({
          ...others,
          ...{ allowedTools: filterOf(allowedTools), headers: named(headers) },
          approval: requireApproval === undefined ? undefined : approval,
        }),
      };
    }
    case 'memory':
      return { memory: defined({ ...rest, scope: rest.scope?.toUpperCase() }) };
    case 'subagent':
      return { subagent: defined({ ...rest, agents: undefined, agentIds: rest.agents }) };
    case 'deep_research': {
      const { budget, ...others } = rest;
      return { deepResearch: defined({ ...others, subagentsMax: budget?.subagents, tokensMax: budget?.tokens }) };
    }
    default: {
      const { container: _container, ...others } = rest;
      return { [type === 'code_interpreter' ? 'python' : type]: others };
    }
  }
}

/** The input of a completion, a message or tool outputs as GraphQL takes it, of one that REST takes. */
export function graphqlInput(input: object): object {
  const { tools, prompt, outputs, secrets } = input as Flat;
  return defined({
    ...input,
    tools: tools?.map(graphqlTool),
    secrets: named(secrets),
    prompt: prompt === undefined ? undefined : graphqlPrompt(prompt),
    outputs: outputs?.map(({ status, ...output }: Flat) => ({ ...output, status: status.toUpperCase() })),
  });
}

function graphqlPrompt(prompt: Flat): object {
  if (typeof prompt === 'string') return { text: prompt };
  const parts = prompt.map(({ type, text, id, url }: Flat) => {
    if (type === 'text') return { text };
    return type === 'id' ? { fileId: id } : { imageUrl: url };
  });
  return { parts };
}

function graphqlFilter({ type, key, value, filters }: Flat): object {
  if (type === 'and' || type === 'or') return { [type]: filters.map(graphqlFilter) };
  return { compare: { key, operator: type.toUpperCase(), ...(Array.isArray(value) ? { values: value } : { value }) } };
}

function filterOf(given: Flat): object | undefined {
  if (given === undefined) return undefined;
  if (Array.isArray(given)) return { names: given };
  return defined({ names: given.toolNames, isReadOnly: given.readOnly });
}

export function named(given: Flat): object[] | undefined {
  return given === undefined ? undefined : Object.entries(given).map(([name, value]) => ({ name, value }));
}

export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const ofCaller = ['headers', 'secrets', 'parameters'];

/** Names in camelCase, but below members of `ofCaller`. */
export function camel(value: unknown, ofCaller: readonly string[]): Flat {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => camel(item, ofCaller));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase()),
      ofCaller.includes(name) ? member : camel(member, ofCaller),
    ]),
  );
}
