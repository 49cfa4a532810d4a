/**
 * Replaces the SDK's chain of credential providers in bundles. Lambda provides a role's credentials only in the
 * environment. The rest of the chain (SSO, profiles, web identity, instance metadata) would be a third of a bundle.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
