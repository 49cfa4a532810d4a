/** A month as AWS bills it, in the mean. */
export const DAYS_OF_A_MONTH = 365.25 / 12;
export const MONTH_SECONDS = DAYS_OF_A_MONTH * 24 * 60 * 60;
