import { prices } from '../../../lib/prices.ts';

/** One thing that is paid for. */
export interface LineItem {
  readonly service: string;
  readonly item: string;
  readonly quantity: number;
  readonly price: keyof typeof prices;
}

export const dollars = ({ quantity, price }: LineItem): number => quantity * prices[price];

export type Row = readonly [service: string, item: string, quantity: number, price: keyof typeof prices];

/** What of these is paid for. */
export const paid = (rows: readonly Row[]): LineItem[] =>
  rows
    .filter(([, , quantity]) => quantity > 0)
    .map(([service, item, quantity, price]) => ({ service, item, quantity, price }));
