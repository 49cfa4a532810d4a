/** Where Stryker says which mutant is on. Source: StrykerJS, `INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE`. */
export const ACTIVE_MUTANT = '__STRYKER_ACTIVE_MUTANT__';

/** What a function's environment needs besides, so that the mutant that `npm run mutate` tries is on in it, too. */
export function mutantEnvironment(): Record<string, string> {
  const mutant = process.env[ACTIVE_MUTANT];
  return mutant === undefined ? {} : { [ACTIVE_MUTANT]: mutant };
}
