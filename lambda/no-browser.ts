/** Replaces `bowser` in bundles: the SDK uses it in browsers only. */
export default {};
