/** Environment variable of the folder in which bundles are kept: `KeptBundles`. */
export const KEPT_BUNDLES_FOLDER = 'PARTNER_WEBHOOKS_KEPT_BUNDLES';
