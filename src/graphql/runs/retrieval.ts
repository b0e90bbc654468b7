import { enumOf, ofFormat, textOnRest } from '../types/enums.ts';

const modes = { hybrid: 'By words and by meaning.', lexical: 'By words alone.' };
export const RetrievalModeType = enumOf('RetrievalMode', 'How knowledge was searched.', ['hybrid', 'lexical'], modes, {
  ...ofFormat,
  ...textOnRest,
});
