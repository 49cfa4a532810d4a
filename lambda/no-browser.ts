/** Takes the place of `bowser` when the functions are bundled: the SDK loads it in browsers only. */
export default {};
