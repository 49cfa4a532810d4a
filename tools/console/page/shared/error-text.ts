/** What failed, in words for whoever looks. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
