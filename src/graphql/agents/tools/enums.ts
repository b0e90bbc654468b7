import { toolTypes } from '../../../entities/conversations/runs/tool.ts';
import { createEnum, ofFormat } from '../../ground/types/enums.ts';

export const ToolTypeType = createEnum(
  'ToolType',
  'A tool of the service.',
  toolTypes,
  {
    web_search: 'Searches the web.',
    file_search: 'Searches the knowledge of the agent, and vector stores.',
    python: 'Runs Python.',
    sandbox: 'Works in a closed computer.',
    image_generation: 'Makes images.',
    spreadsheet: 'Works on tables.',
    memory: 'Remembers beyond a conversation.',
    mcp_server: 'The tools of an MCP server that is connected.',
    mcp: 'The tools of an MCP server that is named by its address.',
    subagent: 'Asks other agents.',
    deep_research: 'Researches in many steps.',
  },
  ofFormat,
);

export const SearchContextSizeType = createEnum(
  'SearchContextSize',
  'How much of what is found is read.',
  ['low', 'medium', 'high'],
  {
    low: 'A few short results.',
    medium: 'Some results.',
    high: 'Many long results.',
  },
);

export const ImageBackgroundType = createEnum(
  'ImageBackground',
  'The background of an image.',
  ['transparent', 'opaque', 'auto'],
  {
    transparent: 'None.',
    opaque: 'A filled one.',
    auto: 'As the model likes.',
  },
);

export const ImageFormatType = createEnum('ImageFormat', 'The format of an image file.', ['png', 'jpeg', 'webp'], {
  png: 'PNG.',
  jpeg: 'JPEG.',
  webp: 'WebP.',
});

export const ImageModerationType = createEnum('ImageModeration', 'How much a provider of images refuses.', ['auto', 'low'], {
  auto: 'What the provider refuses by default.',
  low: 'Less.',
});

export const ImageFidelityType = createEnum(
  'ImageFidelity',
  'How close an image stays to the one that is changed.',
  ['high', 'low'],
  {
    high: 'As close as possible.',
    low: 'Freely.',
  },
);

export const MemoryToolScopeType = createEnum('MemoryToolScope', 'Whose memories an agent works with.', ['user', 'agent'], {
  user: 'Those of the user with all agents.',
  agent: 'Those of the user with this agent.',
});
