import { tool } from 'langchain';
import { z } from 'zod';

const stock = new Map([
  ['brake pads', 120],
  ['inner tubes', 48],
  ['chains', 0],
]);

/** An error that a tool throws ends the agent. What the model can mend is told as an answer. */
export const getStock = tool(
  ({ part }) => {
    const count = stock.get(part);
    return count === undefined ? `Unknown part. Known: ${[...stock.keys()].join(', ')}` : `${count} in stock`;
  },
  {
    name: 'get_stock',
    description: 'How many of a spare part are in stock',
    schema: z.object({ part: z.string().describe('The name of the part, such as "brake pads"') }),
  },
);
