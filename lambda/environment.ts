/**
 * Reads a function's configuration from its environment, at start-up.
 * @throws Error that names every missing variable
 */
export function requireEnvironment<Name extends string>(names: readonly Name[]): Record<Name, string> {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) throw new Error(`Missing environment variables: ${missing.join(', ')}`);
  return Object.fromEntries(names.map((name) => [name, process.env[name]])) as Record<Name, string>;
}
