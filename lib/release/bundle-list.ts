/** File of a cloud assembly that says what the functions' code was made of; nothing of it is deployed. */
export const BUNDLE_LIST = 'bundles.json';

/** Each function's bundle, by its name: `receiver`, `smoke-test`, or an event in kebab case. */
export type BundleList = Readonly<
  Record<
    string,
    {
      /** File that exports the handler, from the project's root. */
      readonly entry: string;
      /** As `Bundle` has them. */
      readonly sources: readonly string[];
    }
  >
>;
