import { prices } from '../../../lib/prices.ts';

export interface LineItem {
  readonly service: string;
  readonly item: string;
  readonly quantity: number;
  readonly price: keyof typeof prices;
}

export const dollars = ({ quantity, price }: LineItem): number => quantity * prices[price];

export type Row = readonly [service: string, item: string, quantity: number, price: keyof typeof prices];

/** Line items for the rows with a quantity. */
export const paid = (rows: readonly Row[]): LineItem[] =>
  rows
    .filter(([, , quantity]) => quantity > 0)
    .map(([service, item, quantity, price]) => ({ service, item, quantity, price }));

export const totalDollars = (items: readonly LineItem[]): number =>
  items.reduce((sum, item) => sum + dollars(item), 0);

export const KILOBYTE = 1024;

/** Average month. */
export const DAYS_OF_A_MONTH = 365.25 / 12;
export const MONTH_SECONDS = DAYS_OF_A_MONTH * 24 * 60 * 60;

/**
 * Share of requests for objects that still call KMS when a bucket key is used. Source: S3 user guide, "S3 Bucket Keys".
 */
export const BUCKET_KEY_SHARE = 0.01;
