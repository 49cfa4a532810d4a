/** Where Stryker says which mutant is on. Source: StrykerJS, `INSTRUMENTER_CONSTANTS.ACTIVE_MUTANT_ENV_VARIABLE`. */
export const ACTIVE_MUTANT = '__STRYKER_ACTIVE_MUTANT__';
