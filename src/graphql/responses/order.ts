import { wireEnumOf } from '../types/enums.ts';

export const OrderType = wireEnumOf('ItemOrder', 'The order of a list of items.', ['asc', 'desc'], {
  asc: 'The first item first.',
  desc: 'The last item first.',
});
