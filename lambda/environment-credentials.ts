/**
 * Takes the place of the SDK's chain of credential providers when the functions are bundled: Lambda
 * gives a function its role's credentials in the environment and nowhere else, and the rest of the
 * chain (SSO, profiles, web identity, instance metadata) is a third of a bundle.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
