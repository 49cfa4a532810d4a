/**
 * Reads a function's configuration from its environment, at start-up.
 * @throws Error that names every missing variable
 */
export function requireEnvironment<Name extends string>(
  names: readonly Name[],
  environment: NodeJS.ProcessEnv = process.env,
): Record<Name, string> {
  const missing = names.filter((name) => !environment[name]);
  if (missing.length > 0) throw new Error(`Missing environment variables: ${missing.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, environment[name]])) as Record<Name, string>;
}
