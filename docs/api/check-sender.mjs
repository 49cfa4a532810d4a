// Checks your webhook requests, and names the likely mistake. It needs only Node.js 20.12 or later:
//   node check-sender.mjs --secret 'our shared secret' Built by npm run generate from tools/check-sender/.
var __create = Object.create;
var __defProp = Object.defineProperty;
var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __getProtoOf = Object.getPrototypeOf;
var __hasOwnProp = Object.prototype.hasOwnProperty;
var __commonJS = (cb, mod) => function __require() {
  try {
    return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
  } catch (e) {
    throw mod = 0, e;
  }
};
var __copyProps = (to, from, except, desc) => {
  if (from && typeof from === "object" || typeof from === "function") {
    for (let key of __getOwnPropNames(from))
      if (!__hasOwnProp.call(to, key) && key !== except)
        __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
  }
  return to;
};
var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
  // If the importer is in node compatibility mode or this is not an ESM
  // file that has been converted to a CommonJS file using a Babel-
  // compatible transform (i.e. "__esModule" has not been set), then set
  // "default" to the CommonJS "module.exports" for node compatibility.
  isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
  mod
));

// node_modules/ansi-regex/index.js
var require_ansi_regex = __commonJS({
  "node_modules/ansi-regex/index.js"(exports, module) {
    "use strict";
    module.exports = ({ onlyFirst = false } = {}) => {
      const pattern = [
        "[\\u001B\\u009B][[\\]()#;?]*(?:(?:(?:(?:;[-a-zA-Z\\d\\/#&.:=?%@~_]+)*|[a-zA-Z\\d]+(?:;[-a-zA-Z\\d\\/#&.:=?%@~_]*)*)?\\u0007)",
        "(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PR-TZcf-ntqry=><~]))"
      ].join("|");
      return new RegExp(pattern, onlyFirst ? void 0 : "g");
    };
  }
});

// node_modules/strip-ansi/index.js
var require_strip_ansi = __commonJS({
  "node_modules/strip-ansi/index.js"(exports, module) {
    "use strict";
    var ansiRegex = require_ansi_regex();
    module.exports = (string2) => typeof string2 === "string" ? string2.replace(ansiRegex(), "") : string2;
  }
});

// node_modules/is-fullwidth-code-point/index.js
var require_is_fullwidth_code_point = __commonJS({
  "node_modules/is-fullwidth-code-point/index.js"(exports, module) {
    "use strict";
    var isFullwidthCodePoint = (codePoint) => {
      if (Number.isNaN(codePoint)) {
        return false;
      }
      if (codePoint >= 4352 && (codePoint <= 4447 || // Hangul Jamo
      codePoint === 9001 || // LEFT-POINTING ANGLE BRACKET
      codePoint === 9002 || // RIGHT-POINTING ANGLE BRACKET
      // CJK Radicals Supplement .. Enclosed CJK Letters and Months
      11904 <= codePoint && codePoint <= 12871 && codePoint !== 12351 || // Enclosed CJK Letters and Months .. CJK Unified Ideographs Extension A
      12880 <= codePoint && codePoint <= 19903 || // CJK Unified Ideographs .. Yi Radicals
      19968 <= codePoint && codePoint <= 42182 || // Hangul Jamo Extended-A
      43360 <= codePoint && codePoint <= 43388 || // Hangul Syllables
      44032 <= codePoint && codePoint <= 55203 || // CJK Compatibility Ideographs
      63744 <= codePoint && codePoint <= 64255 || // Vertical Forms
      65040 <= codePoint && codePoint <= 65049 || // CJK Compatibility Forms .. Small Form Variants
      65072 <= codePoint && codePoint <= 65131 || // Halfwidth and Fullwidth Forms
      65281 <= codePoint && codePoint <= 65376 || 65504 <= codePoint && codePoint <= 65510 || // Kana Supplement
      110592 <= codePoint && codePoint <= 110593 || // Enclosed Ideographic Supplement
      127488 <= codePoint && codePoint <= 127569 || // CJK Unified Ideographs Extension B .. Tertiary Ideographic Plane
      131072 <= codePoint && codePoint <= 262141)) {
        return true;
      }
      return false;
    };
    module.exports = isFullwidthCodePoint;
    module.exports.default = isFullwidthCodePoint;
  }
});

// node_modules/emoji-regex/index.js
var require_emoji_regex = __commonJS({
  "node_modules/emoji-regex/index.js"(exports, module) {
    "use strict";
    module.exports = function() {
      return /\uD83C\uDFF4\uDB40\uDC67\uDB40\uDC62(?:\uDB40\uDC65\uDB40\uDC6E\uDB40\uDC67|\uDB40\uDC73\uDB40\uDC63\uDB40\uDC74|\uDB40\uDC77\uDB40\uDC6C\uDB40\uDC73)\uDB40\uDC7F|\uD83D\uDC68(?:\uD83C\uDFFC\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68\uD83C\uDFFB|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFF\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB-\uDFFE])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFE\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB-\uDFFD])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFD\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB\uDFFC])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\u200D(?:\u2764\uFE0F\u200D(?:\uD83D\uDC8B\u200D)?\uD83D\uDC68|(?:\uD83D[\uDC68\uDC69])\u200D(?:\uD83D\uDC66\u200D\uD83D\uDC66|\uD83D\uDC67\u200D(?:\uD83D[\uDC66\uDC67]))|\uD83D\uDC66\u200D\uD83D\uDC66|\uD83D\uDC67\u200D(?:\uD83D[\uDC66\uDC67])|(?:\uD83D[\uDC68\uDC69])\u200D(?:\uD83D[\uDC66\uDC67])|[\u2695\u2696\u2708]\uFE0F|\uD83D[\uDC66\uDC67]|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|(?:\uD83C\uDFFB\u200D[\u2695\u2696\u2708]|\uD83C\uDFFF\u200D[\u2695\u2696\u2708]|\uD83C\uDFFE\u200D[\u2695\u2696\u2708]|\uD83C\uDFFD\u200D[\u2695\u2696\u2708]|\uD83C\uDFFC\u200D[\u2695\u2696\u2708])\uFE0F|\uD83C\uDFFB\u200D(?:\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C[\uDFFB-\uDFFF])|(?:\uD83E\uDDD1\uD83C\uDFFB\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1|\uD83D\uDC69\uD83C\uDFFC\u200D\uD83E\uDD1D\u200D\uD83D\uDC69)\uD83C\uDFFB|\uD83E\uDDD1(?:\uD83C\uDFFF\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1(?:\uD83C[\uDFFB-\uDFFF])|\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1)|(?:\uD83E\uDDD1\uD83C\uDFFE\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1|\uD83D\uDC69\uD83C\uDFFF\u200D\uD83E\uDD1D\u200D(?:\uD83D[\uDC68\uDC69]))(?:\uD83C[\uDFFB-\uDFFE])|(?:\uD83E\uDDD1\uD83C\uDFFC\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1|\uD83D\uDC69\uD83C\uDFFD\u200D\uD83E\uDD1D\u200D\uD83D\uDC69)(?:\uD83C[\uDFFB\uDFFC])|\uD83D\uDC69(?:\uD83C\uDFFE\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB-\uDFFD\uDFFF])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFC\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB\uDFFD-\uDFFF])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFB\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFC-\uDFFF])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFD\u200D(?:\uD83E\uDD1D\u200D\uD83D\uDC68(?:\uD83C[\uDFFB\uDFFC\uDFFE\uDFFF])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\u200D(?:\u2764\uFE0F\u200D(?:\uD83D\uDC8B\u200D(?:\uD83D[\uDC68\uDC69])|\uD83D[\uDC68\uDC69])|\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD])|\uD83C\uDFFF\u200D(?:\uD83C[\uDF3E\uDF73\uDF93\uDFA4\uDFA8\uDFEB\uDFED]|\uD83D[\uDCBB\uDCBC\uDD27\uDD2C\uDE80\uDE92]|\uD83E[\uDDAF-\uDDB3\uDDBC\uDDBD]))|\uD83D\uDC69\u200D\uD83D\uDC69\u200D(?:\uD83D\uDC66\u200D\uD83D\uDC66|\uD83D\uDC67\u200D(?:\uD83D[\uDC66\uDC67]))|(?:\uD83E\uDDD1\uD83C\uDFFD\u200D\uD83E\uDD1D\u200D\uD83E\uDDD1|\uD83D\uDC69\uD83C\uDFFE\u200D\uD83E\uDD1D\u200D\uD83D\uDC69)(?:\uD83C[\uDFFB-\uDFFD])|\uD83D\uDC69\u200D\uD83D\uDC66\u200D\uD83D\uDC66|\uD83D\uDC69\u200D\uD83D\uDC69\u200D(?:\uD83D[\uDC66\uDC67])|(?:\uD83D\uDC41\uFE0F\u200D\uD83D\uDDE8|\uD83D\uDC69(?:\uD83C\uDFFF\u200D[\u2695\u2696\u2708]|\uD83C\uDFFE\u200D[\u2695\u2696\u2708]|\uD83C\uDFFC\u200D[\u2695\u2696\u2708]|\uD83C\uDFFB\u200D[\u2695\u2696\u2708]|\uD83C\uDFFD\u200D[\u2695\u2696\u2708]|\u200D[\u2695\u2696\u2708])|(?:(?:\u26F9|\uD83C[\uDFCB\uDFCC]|\uD83D\uDD75)\uFE0F|\uD83D\uDC6F|\uD83E[\uDD3C\uDDDE\uDDDF])\u200D[\u2640\u2642]|(?:\u26F9|\uD83C[\uDFCB\uDFCC]|\uD83D\uDD75)(?:\uD83C[\uDFFB-\uDFFF])\u200D[\u2640\u2642]|(?:\uD83C[\uDFC3\uDFC4\uDFCA]|\uD83D[\uDC6E\uDC71\uDC73\uDC77\uDC81\uDC82\uDC86\uDC87\uDE45-\uDE47\uDE4B\uDE4D\uDE4E\uDEA3\uDEB4-\uDEB6]|\uD83E[\uDD26\uDD37-\uDD39\uDD3D\uDD3E\uDDB8\uDDB9\uDDCD-\uDDCF\uDDD6-\uDDDD])(?:(?:\uD83C[\uDFFB-\uDFFF])\u200D[\u2640\u2642]|\u200D[\u2640\u2642])|\uD83C\uDFF4\u200D\u2620)\uFE0F|\uD83D\uDC69\u200D\uD83D\uDC67\u200D(?:\uD83D[\uDC66\uDC67])|\uD83C\uDFF3\uFE0F\u200D\uD83C\uDF08|\uD83D\uDC15\u200D\uD83E\uDDBA|\uD83D\uDC69\u200D\uD83D\uDC66|\uD83D\uDC69\u200D\uD83D\uDC67|\uD83C\uDDFD\uD83C\uDDF0|\uD83C\uDDF4\uD83C\uDDF2|\uD83C\uDDF6\uD83C\uDDE6|[#\*0-9]\uFE0F\u20E3|\uD83C\uDDE7(?:\uD83C[\uDDE6\uDDE7\uDDE9-\uDDEF\uDDF1-\uDDF4\uDDF6-\uDDF9\uDDFB\uDDFC\uDDFE\uDDFF])|\uD83C\uDDF9(?:\uD83C[\uDDE6\uDDE8\uDDE9\uDDEB-\uDDED\uDDEF-\uDDF4\uDDF7\uDDF9\uDDFB\uDDFC\uDDFF])|\uD83C\uDDEA(?:\uD83C[\uDDE6\uDDE8\uDDEA\uDDEC\uDDED\uDDF7-\uDDFA])|\uD83E\uDDD1(?:\uD83C[\uDFFB-\uDFFF])|\uD83C\uDDF7(?:\uD83C[\uDDEA\uDDF4\uDDF8\uDDFA\uDDFC])|\uD83D\uDC69(?:\uD83C[\uDFFB-\uDFFF])|\uD83C\uDDF2(?:\uD83C[\uDDE6\uDDE8-\uDDED\uDDF0-\uDDFF])|\uD83C\uDDE6(?:\uD83C[\uDDE8-\uDDEC\uDDEE\uDDF1\uDDF2\uDDF4\uDDF6-\uDDFA\uDDFC\uDDFD\uDDFF])|\uD83C\uDDF0(?:\uD83C[\uDDEA\uDDEC-\uDDEE\uDDF2\uDDF3\uDDF5\uDDF7\uDDFC\uDDFE\uDDFF])|\uD83C\uDDED(?:\uD83C[\uDDF0\uDDF2\uDDF3\uDDF7\uDDF9\uDDFA])|\uD83C\uDDE9(?:\uD83C[\uDDEA\uDDEC\uDDEF\uDDF0\uDDF2\uDDF4\uDDFF])|\uD83C\uDDFE(?:\uD83C[\uDDEA\uDDF9])|\uD83C\uDDEC(?:\uD83C[\uDDE6\uDDE7\uDDE9-\uDDEE\uDDF1-\uDDF3\uDDF5-\uDDFA\uDDFC\uDDFE])|\uD83C\uDDF8(?:\uD83C[\uDDE6-\uDDEA\uDDEC-\uDDF4\uDDF7-\uDDF9\uDDFB\uDDFD-\uDDFF])|\uD83C\uDDEB(?:\uD83C[\uDDEE-\uDDF0\uDDF2\uDDF4\uDDF7])|\uD83C\uDDF5(?:\uD83C[\uDDE6\uDDEA-\uDDED\uDDF0-\uDDF3\uDDF7-\uDDF9\uDDFC\uDDFE])|\uD83C\uDDFB(?:\uD83C[\uDDE6\uDDE8\uDDEA\uDDEC\uDDEE\uDDF3\uDDFA])|\uD83C\uDDF3(?:\uD83C[\uDDE6\uDDE8\uDDEA-\uDDEC\uDDEE\uDDF1\uDDF4\uDDF5\uDDF7\uDDFA\uDDFF])|\uD83C\uDDE8(?:\uD83C[\uDDE6\uDDE8\uDDE9\uDDEB-\uDDEE\uDDF0-\uDDF5\uDDF7\uDDFA-\uDDFF])|\uD83C\uDDF1(?:\uD83C[\uDDE6-\uDDE8\uDDEE\uDDF0\uDDF7-\uDDFB\uDDFE])|\uD83C\uDDFF(?:\uD83C[\uDDE6\uDDF2\uDDFC])|\uD83C\uDDFC(?:\uD83C[\uDDEB\uDDF8])|\uD83C\uDDFA(?:\uD83C[\uDDE6\uDDEC\uDDF2\uDDF3\uDDF8\uDDFE\uDDFF])|\uD83C\uDDEE(?:\uD83C[\uDDE8-\uDDEA\uDDF1-\uDDF4\uDDF6-\uDDF9])|\uD83C\uDDEF(?:\uD83C[\uDDEA\uDDF2\uDDF4\uDDF5])|(?:\uD83C[\uDFC3\uDFC4\uDFCA]|\uD83D[\uDC6E\uDC71\uDC73\uDC77\uDC81\uDC82\uDC86\uDC87\uDE45-\uDE47\uDE4B\uDE4D\uDE4E\uDEA3\uDEB4-\uDEB6]|\uD83E[\uDD26\uDD37-\uDD39\uDD3D\uDD3E\uDDB8\uDDB9\uDDCD-\uDDCF\uDDD6-\uDDDD])(?:\uD83C[\uDFFB-\uDFFF])|(?:\u26F9|\uD83C[\uDFCB\uDFCC]|\uD83D\uDD75)(?:\uD83C[\uDFFB-\uDFFF])|(?:[\u261D\u270A-\u270D]|\uD83C[\uDF85\uDFC2\uDFC7]|\uD83D[\uDC42\uDC43\uDC46-\uDC50\uDC66\uDC67\uDC6B-\uDC6D\uDC70\uDC72\uDC74-\uDC76\uDC78\uDC7C\uDC83\uDC85\uDCAA\uDD74\uDD7A\uDD90\uDD95\uDD96\uDE4C\uDE4F\uDEC0\uDECC]|\uD83E[\uDD0F\uDD18-\uDD1C\uDD1E\uDD1F\uDD30-\uDD36\uDDB5\uDDB6\uDDBB\uDDD2-\uDDD5])(?:\uD83C[\uDFFB-\uDFFF])|(?:[\u231A\u231B\u23E9-\u23EC\u23F0\u23F3\u25FD\u25FE\u2614\u2615\u2648-\u2653\u267F\u2693\u26A1\u26AA\u26AB\u26BD\u26BE\u26C4\u26C5\u26CE\u26D4\u26EA\u26F2\u26F3\u26F5\u26FA\u26FD\u2705\u270A\u270B\u2728\u274C\u274E\u2753-\u2755\u2757\u2795-\u2797\u27B0\u27BF\u2B1B\u2B1C\u2B50\u2B55]|\uD83C[\uDC04\uDCCF\uDD8E\uDD91-\uDD9A\uDDE6-\uDDFF\uDE01\uDE1A\uDE2F\uDE32-\uDE36\uDE38-\uDE3A\uDE50\uDE51\uDF00-\uDF20\uDF2D-\uDF35\uDF37-\uDF7C\uDF7E-\uDF93\uDFA0-\uDFCA\uDFCF-\uDFD3\uDFE0-\uDFF0\uDFF4\uDFF8-\uDFFF]|\uD83D[\uDC00-\uDC3E\uDC40\uDC42-\uDCFC\uDCFF-\uDD3D\uDD4B-\uDD4E\uDD50-\uDD67\uDD7A\uDD95\uDD96\uDDA4\uDDFB-\uDE4F\uDE80-\uDEC5\uDECC\uDED0-\uDED2\uDED5\uDEEB\uDEEC\uDEF4-\uDEFA\uDFE0-\uDFEB]|\uD83E[\uDD0D-\uDD3A\uDD3C-\uDD45\uDD47-\uDD71\uDD73-\uDD76\uDD7A-\uDDA2\uDDA5-\uDDAA\uDDAE-\uDDCA\uDDCD-\uDDFF\uDE70-\uDE73\uDE78-\uDE7A\uDE80-\uDE82\uDE90-\uDE95])|(?:[#\*0-9\xA9\xAE\u203C\u2049\u2122\u2139\u2194-\u2199\u21A9\u21AA\u231A\u231B\u2328\u23CF\u23E9-\u23F3\u23F8-\u23FA\u24C2\u25AA\u25AB\u25B6\u25C0\u25FB-\u25FE\u2600-\u2604\u260E\u2611\u2614\u2615\u2618\u261D\u2620\u2622\u2623\u2626\u262A\u262E\u262F\u2638-\u263A\u2640\u2642\u2648-\u2653\u265F\u2660\u2663\u2665\u2666\u2668\u267B\u267E\u267F\u2692-\u2697\u2699\u269B\u269C\u26A0\u26A1\u26AA\u26AB\u26B0\u26B1\u26BD\u26BE\u26C4\u26C5\u26C8\u26CE\u26CF\u26D1\u26D3\u26D4\u26E9\u26EA\u26F0-\u26F5\u26F7-\u26FA\u26FD\u2702\u2705\u2708-\u270D\u270F\u2712\u2714\u2716\u271D\u2721\u2728\u2733\u2734\u2744\u2747\u274C\u274E\u2753-\u2755\u2757\u2763\u2764\u2795-\u2797\u27A1\u27B0\u27BF\u2934\u2935\u2B05-\u2B07\u2B1B\u2B1C\u2B50\u2B55\u3030\u303D\u3297\u3299]|\uD83C[\uDC04\uDCCF\uDD70\uDD71\uDD7E\uDD7F\uDD8E\uDD91-\uDD9A\uDDE6-\uDDFF\uDE01\uDE02\uDE1A\uDE2F\uDE32-\uDE3A\uDE50\uDE51\uDF00-\uDF21\uDF24-\uDF93\uDF96\uDF97\uDF99-\uDF9B\uDF9E-\uDFF0\uDFF3-\uDFF5\uDFF7-\uDFFF]|\uD83D[\uDC00-\uDCFD\uDCFF-\uDD3D\uDD49-\uDD4E\uDD50-\uDD67\uDD6F\uDD70\uDD73-\uDD7A\uDD87\uDD8A-\uDD8D\uDD90\uDD95\uDD96\uDDA4\uDDA5\uDDA8\uDDB1\uDDB2\uDDBC\uDDC2-\uDDC4\uDDD1-\uDDD3\uDDDC-\uDDDE\uDDE1\uDDE3\uDDE8\uDDEF\uDDF3\uDDFA-\uDE4F\uDE80-\uDEC5\uDECB-\uDED2\uDED5\uDEE0-\uDEE5\uDEE9\uDEEB\uDEEC\uDEF0\uDEF3-\uDEFA\uDFE0-\uDFEB]|\uD83E[\uDD0D-\uDD3A\uDD3C-\uDD45\uDD47-\uDD71\uDD73-\uDD76\uDD7A-\uDDA2\uDDA5-\uDDAA\uDDAE-\uDDCA\uDDCD-\uDDFF\uDE70-\uDE73\uDE78-\uDE7A\uDE80-\uDE82\uDE90-\uDE95])\uFE0F|(?:[\u261D\u26F9\u270A-\u270D]|\uD83C[\uDF85\uDFC2-\uDFC4\uDFC7\uDFCA-\uDFCC]|\uD83D[\uDC42\uDC43\uDC46-\uDC50\uDC66-\uDC78\uDC7C\uDC81-\uDC83\uDC85-\uDC87\uDC8F\uDC91\uDCAA\uDD74\uDD75\uDD7A\uDD90\uDD95\uDD96\uDE45-\uDE47\uDE4B-\uDE4F\uDEA3\uDEB4-\uDEB6\uDEC0\uDECC]|\uD83E[\uDD0F\uDD18-\uDD1F\uDD26\uDD30-\uDD39\uDD3C-\uDD3E\uDDB5\uDDB6\uDDB8\uDDB9\uDDBB\uDDCD-\uDDCF\uDDD1-\uDDDD])/g;
    };
  }
});

// node_modules/string-width/index.js
var require_string_width = __commonJS({
  "node_modules/string-width/index.js"(exports, module) {
    "use strict";
    var stripAnsi = require_strip_ansi();
    var isFullwidthCodePoint = require_is_fullwidth_code_point();
    var emojiRegex = require_emoji_regex();
    var stringWidth2 = (string2) => {
      if (typeof string2 !== "string" || string2.length === 0) {
        return 0;
      }
      string2 = stripAnsi(string2);
      if (string2.length === 0) {
        return 0;
      }
      string2 = string2.replace(emojiRegex(), "  ");
      let width = 0;
      for (let i = 0; i < string2.length; i++) {
        const code = string2.codePointAt(i);
        if (code <= 31 || code >= 127 && code <= 159) {
          continue;
        }
        if (code >= 768 && code <= 879) {
          continue;
        }
        if (code > 65535) {
          i++;
        }
        width += isFullwidthCodePoint(code) ? 2 : 1;
      }
      return width;
    };
    module.exports = stringWidth2;
    module.exports.default = stringWidth2;
  }
});

// tools/commands/check-sender.ts
import { once as once3 } from "node:events";

// node_modules/commander/lib/error.js
var CommanderError = class extends Error {
  /**
   * Constructs the CommanderError class
   * @param {number} exitCode suggested exit code which could be used with process.exit
   * @param {string} code an id string representing the error
   * @param {string} message human-readable description of the error
   */
  constructor(exitCode, code, message) {
    super(message);
    Error.captureStackTrace(this, this.constructor);
    this.name = this.constructor.name;
    this.code = code;
    this.exitCode = exitCode;
    this.nestedError = void 0;
  }
};
var InvalidArgumentError = class extends CommanderError {
  /**
   * Constructs the InvalidArgumentError class
   * @param {string} [message] explanation of why argument is invalid
   */
  constructor(message) {
    super(1, "commander.invalidArgument", message);
    Error.captureStackTrace(this, this.constructor);
    this.name = this.constructor.name;
  }
};

// node_modules/commander/lib/argument.js
var Argument = class {
  /**
   * Initialize a new command argument with the given name and description.
   * The default is that the argument is required, and you can explicitly
   * indicate this with <> around the name. Put [] around the name for an optional argument.
   *
   * @param {string} name
   * @param {string} [description]
   */
  constructor(name, description) {
    this.description = description || "";
    this.variadic = false;
    this.parseArg = void 0;
    this.defaultValue = void 0;
    this.defaultValueDescription = void 0;
    this.argChoices = void 0;
    switch (name[0]) {
      case "<":
        this.required = true;
        this._name = name.slice(1, -1);
        break;
      case "[":
        this.required = false;
        this._name = name.slice(1, -1);
        break;
      default:
        this.required = true;
        this._name = name;
        break;
    }
    if (this._name.endsWith("...")) {
      this.variadic = true;
      this._name = this._name.slice(0, -3);
    }
  }
  /**
   * Return argument name.
   *
   * @return {string}
   */
  name() {
    return this._name;
  }
  /**
   * @package
   */
  _collectValue(value, previous) {
    if (previous === this.defaultValue || !Array.isArray(previous)) {
      return [value];
    }
    previous.push(value);
    return previous;
  }
  /**
   * Set the default value, and optionally supply the description to be displayed in the help.
   *
   * @param {*} value
   * @param {string} [description]
   * @return {Argument}
   */
  default(value, description) {
    this.defaultValue = value;
    this.defaultValueDescription = description;
    return this;
  }
  /**
   * Set the custom handler for processing CLI command arguments into argument values.
   *
   * @param {Function} [fn]
   * @return {Argument}
   */
  argParser(fn) {
    this.parseArg = fn;
    return this;
  }
  /**
   * Only allow argument value to be one of choices.
   *
   * @param {string[]} values
   * @return {Argument}
   */
  choices(values) {
    this.argChoices = values.slice();
    this.parseArg = (arg, previous) => {
      if (!this.argChoices.includes(arg)) {
        throw new InvalidArgumentError(
          `Allowed choices are ${this.argChoices.join(", ")}.`
        );
      }
      if (this.variadic) {
        return this._collectValue(arg, previous);
      }
      return arg;
    };
    return this;
  }
  /**
   * Make argument required.
   *
   * @returns {Argument}
   */
  argRequired() {
    this.required = true;
    return this;
  }
  /**
   * Make argument optional.
   *
   * @returns {Argument}
   */
  argOptional() {
    this.required = false;
    return this;
  }
};
function humanReadableArgName(arg) {
  const nameOutput = arg.name() + (arg.variadic === true ? "..." : "");
  return arg.required ? "<" + nameOutput + ">" : "[" + nameOutput + "]";
}

// node_modules/commander/lib/command.js
import { EventEmitter } from "node:events";
import childProcess from "node:child_process";
import path from "node:path";
import fs from "node:fs";
import process2 from "node:process";
import { stripVTControlCharacters as stripVTControlCharacters2 } from "node:util";

// node_modules/commander/lib/help.js
import { stripVTControlCharacters } from "node:util";
var Help = class {
  constructor() {
    this.helpWidth = void 0;
    this.minWidthToWrap = 40;
    this.sortSubcommands = false;
    this.sortOptions = false;
    this.showGlobalOptions = false;
  }
  /**
   * prepareContext is called by Commander after applying overrides from `Command.configureHelp()`
   * and just before calling `formatHelp()`.
   *
   * Commander just uses the helpWidth and the rest is provided for optional use by more complex subclasses.
   *
   * @param {{ error?: boolean, helpWidth?: number, outputHasColors?: boolean }} contextOptions
   */
  prepareContext(contextOptions) {
    this.helpWidth = this.helpWidth ?? contextOptions.helpWidth ?? 80;
  }
  /**
   * Get an array of the visible subcommands. Includes a placeholder for the implicit help command, if there is one.
   *
   * @param {Command} cmd
   * @returns {Command[]}
   */
  visibleCommands(cmd) {
    const visibleCommands = cmd.commands.filter((cmd2) => !cmd2._hidden);
    const helpCommand = cmd._getHelpCommand();
    if (helpCommand && !helpCommand._hidden) {
      visibleCommands.push(helpCommand);
    }
    if (this.sortSubcommands) {
      visibleCommands.sort((a, b) => {
        return a.name().localeCompare(b.name());
      });
    }
    return visibleCommands;
  }
  /**
   * Compare options for sort.
   *
   * @param {Option} a
   * @param {Option} b
   * @returns {number}
   */
  compareOptions(a, b) {
    const getSortKey = (option) => {
      return option.short ? option.short.replace(/^-/, "") : option.long.replace(/^--/, "");
    };
    return getSortKey(a).localeCompare(getSortKey(b));
  }
  /**
   * Get an array of the visible options. Includes a placeholder for the implicit help option, if there is one.
   *
   * @param {Command} cmd
   * @returns {Option[]}
   */
  visibleOptions(cmd) {
    const visibleOptions = cmd.options.filter((option) => !option.hidden);
    const helpOption = cmd._getHelpOption();
    if (helpOption && !helpOption.hidden) {
      const removeShort = helpOption.short && cmd._findOption(helpOption.short);
      const removeLong = helpOption.long && cmd._findOption(helpOption.long);
      if (!removeShort && !removeLong) {
        visibleOptions.push(helpOption);
      } else if (helpOption.long && !removeLong) {
        visibleOptions.push(
          cmd.createOption(helpOption.long, helpOption.description).helpGroup(helpOption.helpGroupHeading)
        );
      } else if (helpOption.short && !removeShort) {
        visibleOptions.push(
          cmd.createOption(helpOption.short, helpOption.description).helpGroup(helpOption.helpGroupHeading)
        );
      }
    }
    if (this.sortOptions) {
      visibleOptions.sort(this.compareOptions);
    }
    return visibleOptions;
  }
  /**
   * Get an array of the visible global options. (Not including help.)
   *
   * @param {Command} cmd
   * @returns {Option[]}
   */
  visibleGlobalOptions(cmd) {
    if (!this.showGlobalOptions) return [];
    const globalOptions = [];
    for (let ancestorCmd = cmd.parent; ancestorCmd; ancestorCmd = ancestorCmd.parent) {
      const visibleOptions = ancestorCmd.options.filter(
        (option) => !option.hidden
      );
      globalOptions.push(...visibleOptions);
    }
    if (this.sortOptions) {
      globalOptions.sort(this.compareOptions);
    }
    return globalOptions;
  }
  /**
   * Get an array of the arguments if any have a description.
   *
   * @param {Command} cmd
   * @returns {Argument[]}
   */
  visibleArguments(cmd) {
    if (cmd._argsDescription) {
      cmd.registeredArguments.forEach((argument) => {
        argument.description = argument.description || cmd._argsDescription[argument.name()] || "";
      });
    }
    if (cmd.registeredArguments.find((argument) => argument.description)) {
      return cmd.registeredArguments;
    }
    return [];
  }
  /**
   * Get the command term to show in the list of subcommands.
   *
   * @param {Command} cmd
   * @returns {string}
   */
  subcommandTerm(cmd) {
    const args = cmd.registeredArguments.map((arg) => humanReadableArgName(arg)).join(" ");
    return cmd._name + (cmd._aliases[0] ? "|" + cmd._aliases[0] : "") + (cmd.options.length ? " [options]" : "") + // simplistic check for non-help option
    (args ? " " + args : "");
  }
  /**
   * Get the option term to show in the list of options.
   *
   * @param {Option} option
   * @returns {string}
   */
  optionTerm(option) {
    return option.flags;
  }
  /**
   * Get the argument term to show in the list of arguments.
   *
   * @param {Argument} argument
   * @returns {string}
   */
  argumentTerm(argument) {
    return argument.name();
  }
  /**
   * Get the longest command term length.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {number}
   */
  longestSubcommandTermLength(cmd, helper) {
    return helper.visibleCommands(cmd).reduce((max, command2) => {
      return Math.max(
        max,
        this.displayWidth(
          helper.styleSubcommandTerm(helper.subcommandTerm(command2))
        )
      );
    }, 0);
  }
  /**
   * Get the longest option term length.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {number}
   */
  longestOptionTermLength(cmd, helper) {
    return helper.visibleOptions(cmd).reduce((max, option) => {
      return Math.max(
        max,
        this.displayWidth(helper.styleOptionTerm(helper.optionTerm(option)))
      );
    }, 0);
  }
  /**
   * Get the longest global option term length.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {number}
   */
  longestGlobalOptionTermLength(cmd, helper) {
    return helper.visibleGlobalOptions(cmd).reduce((max, option) => {
      return Math.max(
        max,
        this.displayWidth(helper.styleOptionTerm(helper.optionTerm(option)))
      );
    }, 0);
  }
  /**
   * Get the longest argument term length.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {number}
   */
  longestArgumentTermLength(cmd, helper) {
    return helper.visibleArguments(cmd).reduce((max, argument) => {
      return Math.max(
        max,
        this.displayWidth(
          helper.styleArgumentTerm(helper.argumentTerm(argument))
        )
      );
    }, 0);
  }
  /**
   * Get the command usage to be displayed at the top of the built-in help.
   *
   * @param {Command} cmd
   * @returns {string}
   */
  commandUsage(cmd) {
    let cmdName = cmd._name;
    if (cmd._aliases[0]) {
      cmdName = cmdName + "|" + cmd._aliases[0];
    }
    let ancestorCmdNames = "";
    for (let ancestorCmd = cmd.parent; ancestorCmd; ancestorCmd = ancestorCmd.parent) {
      ancestorCmdNames = ancestorCmd.name() + " " + ancestorCmdNames;
    }
    return ancestorCmdNames + cmdName + " " + cmd.usage();
  }
  /**
   * Get the description for the command.
   *
   * @param {Command} cmd
   * @returns {string}
   */
  commandDescription(cmd) {
    return cmd.description();
  }
  /**
   * Get the subcommand summary to show in the list of subcommands.
   * (Fallback to description for backwards compatibility.)
   *
   * @param {Command} cmd
   * @returns {string}
   */
  subcommandDescription(cmd) {
    return cmd.summary() || cmd.description();
  }
  /**
   * Get the option description to show in the list of options.
   *
   * @param {Option} option
   * @return {string}
   */
  optionDescription(option) {
    const extraInfo = [];
    if (option.argChoices) {
      extraInfo.push(
        // use stringify to match the display of the default value
        `choices: ${option.argChoices.map((choice) => JSON.stringify(choice)).join(", ")}`
      );
    }
    if (option.defaultValue !== void 0) {
      const showDefault = option.required || option.optional || option.isBoolean() && typeof option.defaultValue === "boolean";
      if (showDefault) {
        extraInfo.push(
          `default: ${option.defaultValueDescription || JSON.stringify(option.defaultValue)}`
        );
      }
    }
    if (option.presetArg !== void 0 && option.optional) {
      extraInfo.push(`preset: ${JSON.stringify(option.presetArg)}`);
    }
    if (option.envVar !== void 0) {
      extraInfo.push(`env: ${option.envVar}`);
    }
    if (extraInfo.length > 0) {
      const extraDescription = `(${extraInfo.join(", ")})`;
      if (option.description) {
        return `${option.description} ${extraDescription}`;
      }
      return extraDescription;
    }
    return option.description;
  }
  /**
   * Get the argument description to show in the list of arguments.
   *
   * @param {Argument} argument
   * @return {string}
   */
  argumentDescription(argument) {
    const extraInfo = [];
    if (argument.argChoices) {
      extraInfo.push(
        // use stringify to match the display of the default value
        `choices: ${argument.argChoices.map((choice) => JSON.stringify(choice)).join(", ")}`
      );
    }
    if (argument.defaultValue !== void 0) {
      extraInfo.push(
        `default: ${argument.defaultValueDescription || JSON.stringify(argument.defaultValue)}`
      );
    }
    if (extraInfo.length > 0) {
      const extraDescription = `(${extraInfo.join(", ")})`;
      if (argument.description) {
        return `${argument.description} ${extraDescription}`;
      }
      return extraDescription;
    }
    return argument.description;
  }
  /**
   * Format a list of items, given a heading and an array of formatted items.
   *
   * @param {string} heading
   * @param {string[]} items
   * @param {Help} helper
   * @returns string[]
   */
  formatItemList(heading, items, helper) {
    if (items.length === 0) return [];
    return [helper.styleTitle(heading), ...items, ""];
  }
  /**
   * Group items by their help group heading.
   *
   * @param {Command[] | Option[]} unsortedItems
   * @param {Command[] | Option[]} visibleItems
   * @param {Function} getGroup
   * @returns {Map<string, Command[] | Option[]>}
   */
  groupItems(unsortedItems, visibleItems, getGroup) {
    const result = /* @__PURE__ */ new Map();
    unsortedItems.forEach((item) => {
      const group2 = getGroup(item);
      if (!result.has(group2)) result.set(group2, []);
    });
    visibleItems.forEach((item) => {
      const group2 = getGroup(item);
      if (!result.has(group2)) {
        result.set(group2, []);
      }
      result.get(group2).push(item);
    });
    return result;
  }
  /**
   * Generate the built-in help text.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {string}
   */
  formatHelp(cmd, helper) {
    const termWidth = helper.padWidth(cmd, helper);
    const helpWidth = helper.helpWidth ?? 80;
    function callFormatItem(term, description) {
      return helper.formatItem(term, termWidth, description, helper);
    }
    let output = [
      `${helper.styleTitle("Usage:")} ${helper.styleUsage(helper.commandUsage(cmd))}`,
      ""
    ];
    const commandDescription = helper.commandDescription(cmd);
    if (commandDescription.length > 0) {
      output = output.concat([
        helper.boxWrap(
          helper.styleCommandDescription(commandDescription),
          helpWidth
        ),
        ""
      ]);
    }
    const argumentList = helper.visibleArguments(cmd).map((argument) => {
      return callFormatItem(
        helper.styleArgumentTerm(helper.argumentTerm(argument)),
        helper.styleArgumentDescription(helper.argumentDescription(argument))
      );
    });
    output = output.concat(
      this.formatItemList("Arguments:", argumentList, helper)
    );
    const optionGroups = this.groupItems(
      cmd.options,
      helper.visibleOptions(cmd),
      (option) => option.helpGroupHeading ?? "Options:"
    );
    optionGroups.forEach((options, group2) => {
      const optionList = options.map((option) => {
        return callFormatItem(
          helper.styleOptionTerm(helper.optionTerm(option)),
          helper.styleOptionDescription(helper.optionDescription(option))
        );
      });
      output = output.concat(this.formatItemList(group2, optionList, helper));
    });
    if (helper.showGlobalOptions) {
      const globalOptionList = helper.visibleGlobalOptions(cmd).map((option) => {
        return callFormatItem(
          helper.styleOptionTerm(helper.optionTerm(option)),
          helper.styleOptionDescription(helper.optionDescription(option))
        );
      });
      output = output.concat(
        this.formatItemList("Global Options:", globalOptionList, helper)
      );
    }
    const commandGroups = this.groupItems(
      cmd.commands,
      helper.visibleCommands(cmd),
      (sub) => sub.helpGroup() || "Commands:"
    );
    commandGroups.forEach((commands, group2) => {
      const commandList = commands.map((sub) => {
        return callFormatItem(
          helper.styleSubcommandTerm(helper.subcommandTerm(sub)),
          helper.styleSubcommandDescription(helper.subcommandDescription(sub))
        );
      });
      output = output.concat(this.formatItemList(group2, commandList, helper));
    });
    return output.join("\n");
  }
  /**
   * Return display width of string, ignoring ANSI escape sequences. Used in padding and wrapping calculations.
   *
   * @param {string} str
   * @returns {number}
   */
  displayWidth(str) {
    return stripVTControlCharacters(str).length;
  }
  /**
   * Style the title for displaying in the help. Called with 'Usage:', 'Options:', etc.
   *
   * @param {string} str
   * @returns {string}
   */
  styleTitle(str) {
    return str;
  }
  styleUsage(str) {
    return str.split(" ").map((word) => {
      if (word === "[options]") return this.styleOptionText(word);
      if (word === "[command]") return this.styleSubcommandText(word);
      if (word[0] === "[" || word[0] === "<")
        return this.styleArgumentText(word);
      return this.styleCommandText(word);
    }).join(" ");
  }
  styleCommandDescription(str) {
    return this.styleDescriptionText(str);
  }
  styleOptionDescription(str) {
    return this.styleDescriptionText(str);
  }
  styleSubcommandDescription(str) {
    return this.styleDescriptionText(str);
  }
  styleArgumentDescription(str) {
    return this.styleDescriptionText(str);
  }
  styleDescriptionText(str) {
    return str;
  }
  styleOptionTerm(str) {
    return this.styleOptionText(str);
  }
  styleSubcommandTerm(str) {
    return str.split(" ").map((word) => {
      if (word === "[options]") return this.styleOptionText(word);
      if (word[0] === "[" || word[0] === "<")
        return this.styleArgumentText(word);
      return this.styleSubcommandText(word);
    }).join(" ");
  }
  styleArgumentTerm(str) {
    return this.styleArgumentText(str);
  }
  styleOptionText(str) {
    return str;
  }
  styleArgumentText(str) {
    return str;
  }
  styleSubcommandText(str) {
    return str;
  }
  styleCommandText(str) {
    return str;
  }
  /**
   * Calculate the pad width from the maximum term length.
   *
   * @param {Command} cmd
   * @param {Help} helper
   * @returns {number}
   */
  padWidth(cmd, helper) {
    return Math.max(
      helper.longestOptionTermLength(cmd, helper),
      helper.longestGlobalOptionTermLength(cmd, helper),
      helper.longestSubcommandTermLength(cmd, helper),
      helper.longestArgumentTermLength(cmd, helper)
    );
  }
  /**
   * Detect manually wrapped and indented strings by checking for line break followed by whitespace.
   *
   * @param {string} str
   * @returns {boolean}
   */
  preformatted(str) {
    return /\n[^\S\r\n]/.test(str);
  }
  /**
   * Format the "item", which consists of a term and description. Pad the term and wrap the description, indenting the following lines.
   *
   * So "TTT", 5, "DDD DDDD DD DDD" might be formatted for this.helpWidth=17 like so:
   *   TTT  DDD DDDD
   *        DD DDD
   *
   * @param {string} term
   * @param {number} termWidth
   * @param {string} description
   * @param {Help} helper
   * @returns {string}
   */
  formatItem(term, termWidth, description, helper) {
    const itemIndent = 2;
    const itemIndentStr = " ".repeat(itemIndent);
    if (!description) return itemIndentStr + term;
    const paddedTerm = term.padEnd(
      termWidth + term.length - helper.displayWidth(term)
    );
    const spacerWidth = 2;
    const helpWidth = this.helpWidth ?? 80;
    const remainingWidth = helpWidth - termWidth - spacerWidth - itemIndent;
    let formattedDescription;
    if (remainingWidth < this.minWidthToWrap || helper.preformatted(description)) {
      formattedDescription = description;
    } else {
      const wrappedDescription = helper.boxWrap(description, remainingWidth);
      formattedDescription = wrappedDescription.replace(
        /\n/g,
        "\n" + " ".repeat(termWidth + spacerWidth)
      );
    }
    return itemIndentStr + paddedTerm + " ".repeat(spacerWidth) + formattedDescription.replace(/\n/g, `
${itemIndentStr}`);
  }
  /**
   * Wrap a string at whitespace, preserving existing line breaks.
   * Wrapping is skipped if the width is less than `minWidthToWrap`.
   *
   * @param {string} str
   * @param {number} width
   * @returns {string}
   */
  boxWrap(str, width) {
    if (width < this.minWidthToWrap) return str;
    const rawLines = str.split(/\r\n|\n/);
    const chunkPattern = /[\s]*[^\s]+/g;
    const wrappedLines = [];
    rawLines.forEach((line) => {
      const chunks = line.match(chunkPattern);
      if (chunks === null) {
        wrappedLines.push("");
        return;
      }
      let sumChunks = [chunks.shift()];
      let sumWidth = this.displayWidth(sumChunks[0]);
      chunks.forEach((chunk) => {
        const visibleWidth = this.displayWidth(chunk);
        if (sumWidth + visibleWidth <= width) {
          sumChunks.push(chunk);
          sumWidth += visibleWidth;
          return;
        }
        wrappedLines.push(sumChunks.join(""));
        const nextChunk = chunk.trimStart();
        sumChunks = [nextChunk];
        sumWidth = this.displayWidth(nextChunk);
      });
      wrappedLines.push(sumChunks.join(""));
    });
    return wrappedLines.join("\n");
  }
};

// node_modules/commander/lib/option.js
var Option = class {
  /**
   * Initialize a new `Option` with the given `flags` and `description`.
   *
   * @param {string} flags
   * @param {string} [description]
   */
  constructor(flags, description) {
    this.flags = flags;
    this.description = description || "";
    this.required = flags.includes("<");
    this.optional = flags.includes("[");
    this.variadic = new RegExp("\\p{ID_Continue}\\.\\.\\.[>\\]]$", "u").test(flags);
    this.mandatory = false;
    const optionFlags = splitOptionFlags(flags);
    this.short = optionFlags.shortFlag;
    this.long = optionFlags.longFlag;
    this.negate = false;
    if (this.long) {
      this.negate = this.long.startsWith("--no-");
    }
    this.defaultValue = void 0;
    this.defaultValueDescription = void 0;
    this.presetArg = void 0;
    this.envVar = void 0;
    this.parseArg = void 0;
    this.hidden = false;
    this.argChoices = void 0;
    this.conflictsWith = [];
    this.implied = void 0;
    this.helpGroupHeading = void 0;
  }
  /**
   * Set the default value, and optionally supply the description to be displayed in the help.
   *
   * @param {*} value
   * @param {string} [description]
   * @return {Option}
   */
  default(value, description) {
    this.defaultValue = value;
    this.defaultValueDescription = description;
    return this;
  }
  /**
   * Preset to use when option used without option-argument, especially optional but also boolean and negated.
   * The custom processing (parseArg) is called.
   *
   * @example
   * new Option('--color').default('GREYSCALE').preset('RGB');
   * new Option('--donate [amount]').preset('20').argParser(parseFloat);
   *
   * @param {*} arg
   * @return {Option}
   */
  preset(arg) {
    this.presetArg = arg;
    return this;
  }
  /**
   * Add option name(s) that conflict with this option.
   * An error will be displayed if conflicting options are found during parsing.
   *
   * @example
   * new Option('--rgb').conflicts('cmyk');
   * new Option('--js').conflicts(['ts', 'jsx']);
   *
   * @param {(string | string[])} names
   * @return {Option}
   */
  conflicts(names) {
    this.conflictsWith = this.conflictsWith.concat(names);
    return this;
  }
  /**
   * Specify implied option values for when this option is set and the implied options are not.
   *
   * The custom processing (parseArg) is not called on the implied values.
   *
   * @example
   * program
   *   .addOption(new Option('--log', 'write logging information to file'))
   *   .addOption(new Option('--trace', 'log extra details').implies({ log: 'trace.txt' }));
   *
   * @param {object} impliedOptionValues
   * @return {Option}
   */
  implies(impliedOptionValues) {
    let newImplied = impliedOptionValues;
    if (typeof impliedOptionValues === "string") {
      newImplied = { [impliedOptionValues]: true };
    }
    this.implied = Object.assign(this.implied || {}, newImplied);
    return this;
  }
  /**
   * Set environment variable to check for option value.
   *
   * An environment variable is only used if when processed the current option value is
   * undefined, or the source of the current value is 'default' or 'config' or 'env'.
   *
   * @param {string} name
   * @return {Option}
   */
  env(name) {
    this.envVar = name;
    return this;
  }
  /**
   * Set the custom handler for processing CLI option arguments into option values.
   *
   * @param {Function} [fn]
   * @return {Option}
   */
  argParser(fn) {
    this.parseArg = fn;
    return this;
  }
  /**
   * Whether the option is mandatory and must have a value after parsing.
   *
   * @param {boolean} [mandatory=true]
   * @return {Option}
   */
  makeOptionMandatory(mandatory = true) {
    this.mandatory = !!mandatory;
    return this;
  }
  /**
   * Hide option in help.
   *
   * @param {boolean} [hide=true]
   * @return {Option}
   */
  hideHelp(hide = true) {
    this.hidden = !!hide;
    return this;
  }
  /**
   * @package
   */
  _collectValue(value, previous) {
    if (previous === this.defaultValue || !Array.isArray(previous)) {
      return [value];
    }
    previous.push(value);
    return previous;
  }
  /**
   * Only allow option value to be one of choices.
   *
   * @param {string[]} values
   * @return {Option}
   */
  choices(values) {
    this.argChoices = values.slice();
    this.parseArg = (arg, previous) => {
      if (!this.argChoices.includes(arg)) {
        throw new InvalidArgumentError(
          `Allowed choices are ${this.argChoices.join(", ")}.`
        );
      }
      if (this.variadic) {
        return this._collectValue(arg, previous);
      }
      return arg;
    };
    return this;
  }
  /**
   * Return option name.
   *
   * @return {string}
   */
  name() {
    if (this.long) {
      return this.long.replace(/^--/, "");
    }
    return this.short.replace(/^-/, "");
  }
  /**
   * Return option name, in a camelcase format that can be used
   * as an object attribute key.
   *
   * @return {string}
   */
  attributeName() {
    if (this.negate) {
      return camelcase(this.name().replace(/^no-/, ""));
    }
    return camelcase(this.name());
  }
  /**
   * Set the help group heading.
   *
   * @param {string} heading
   * @return {Option}
   */
  helpGroup(heading) {
    this.helpGroupHeading = heading;
    return this;
  }
  /**
   * Check if `arg` matches the short or long flag.
   *
   * @param {string} arg
   * @return {boolean}
   * @package
   */
  is(arg) {
    return this.short === arg || this.long === arg;
  }
  /**
   * Return whether a boolean option.
   *
   * Options are one of boolean, negated, required argument, or optional argument.
   *
   * @return {boolean}
   * @package
   */
  isBoolean() {
    return !this.required && !this.optional && !this.negate;
  }
};
var DualOptions = class {
  /**
   * @param {Option[]} options
   */
  constructor(options) {
    this.positiveOptions = /* @__PURE__ */ new Map();
    this.negativeOptions = /* @__PURE__ */ new Map();
    this.dualOptions = /* @__PURE__ */ new Set();
    options.forEach((option) => {
      if (option.negate) {
        this.negativeOptions.set(option.attributeName(), option);
      } else {
        this.positiveOptions.set(option.attributeName(), option);
      }
    });
    this.negativeOptions.forEach((value, key) => {
      if (this.positiveOptions.has(key)) {
        this.dualOptions.add(key);
      }
    });
  }
  /**
   * Did the value come from the option, and not from possible matching dual option?
   *
   * @param {*} value
   * @param {Option} option
   * @returns {boolean}
   */
  valueFromOption(value, option) {
    const optionKey = option.attributeName();
    if (!this.dualOptions.has(optionKey)) return true;
    const preset = this.negativeOptions.get(optionKey).presetArg;
    const negativeValue = preset !== void 0 ? preset : false;
    return option.negate === (negativeValue === value);
  }
};
function camelcase(str) {
  return str.split("-").reduce((str2, word) => {
    return str2 + word[0].toUpperCase() + word.slice(1);
  });
}
function splitOptionFlags(flags) {
  let shortFlag;
  let longFlag;
  const shortFlagExp = /^-[^-]$/;
  const longFlagExp = /^--[^-]/;
  const flagParts = flags.split(/[ |,]+/).concat("guard");
  if (shortFlagExp.test(flagParts[0])) shortFlag = flagParts.shift();
  if (longFlagExp.test(flagParts[0])) longFlag = flagParts.shift();
  if (!shortFlag && shortFlagExp.test(flagParts[0]))
    shortFlag = flagParts.shift();
  if (!shortFlag && longFlagExp.test(flagParts[0])) {
    shortFlag = longFlag;
    longFlag = flagParts.shift();
  }
  if (flagParts[0].startsWith("-")) {
    const unsupportedFlag = flagParts[0];
    const baseError = `option creation failed due to '${unsupportedFlag}' in option flags '${flags}'`;
    if (/^-[^-][^-]/.test(unsupportedFlag))
      throw new Error(
        `${baseError}
- a short flag is a single dash and a single character
  - either use a single dash and a single character (for a short flag)
  - or use a double dash for a long option (and can have two, like '--ws, --workspace')`
      );
    if (shortFlagExp.test(unsupportedFlag))
      throw new Error(`${baseError}
- too many short flags`);
    if (longFlagExp.test(unsupportedFlag))
      throw new Error(`${baseError}
- too many long flags`);
    throw new Error(`${baseError}
- unrecognised flag format`);
  }
  if (shortFlag === void 0 && longFlag === void 0)
    throw new Error(
      `option creation failed due to no flags found in '${flags}'.`
    );
  return { shortFlag, longFlag };
}

// node_modules/commander/lib/suggestSimilar.js
var maxDistance = 3;
function editDistance(a, b) {
  if (Math.abs(a.length - b.length) > maxDistance)
    return Math.max(a.length, b.length);
  const d = [];
  for (let i = 0; i <= a.length; i++) {
    d[i] = [i];
  }
  for (let j = 0; j <= b.length; j++) {
    d[0][j] = j;
  }
  for (let j = 1; j <= b.length; j++) {
    for (let i = 1; i <= a.length; i++) {
      let cost;
      if (a[i - 1] === b[j - 1]) {
        cost = 0;
      } else {
        cost = 1;
      }
      d[i][j] = Math.min(
        d[i - 1][j] + 1,
        // deletion
        d[i][j - 1] + 1,
        // insertion
        d[i - 1][j - 1] + cost
        // substitution
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.length][b.length];
}
function suggestSimilar(word, candidates2) {
  if (!candidates2 || candidates2.length === 0) return "";
  candidates2 = Array.from(new Set(candidates2));
  const searchingOptions = word.startsWith("--");
  if (searchingOptions) {
    word = word.slice(2);
    candidates2 = candidates2.map((candidate) => candidate.slice(2));
  }
  let similar = [];
  let bestDistance = maxDistance;
  const minSimilarity = 0.4;
  candidates2.forEach((candidate) => {
    if (candidate.length <= 1) return;
    const distance2 = editDistance(word, candidate);
    const length = Math.max(word.length, candidate.length);
    const similarity = (length - distance2) / length;
    if (similarity > minSimilarity) {
      if (distance2 < bestDistance) {
        bestDistance = distance2;
        similar = [candidate];
      } else if (distance2 === bestDistance) {
        similar.push(candidate);
      }
    }
  });
  similar.sort((a, b) => a.localeCompare(b));
  if (searchingOptions) {
    similar = similar.map((candidate) => `--${candidate}`);
  }
  if (similar.length > 1) {
    return `
(Did you mean one of ${similar.join(", ")}?)`;
  }
  if (similar.length === 1) {
    return `
(Did you mean ${similar[0]}?)`;
  }
  return "";
}

// node_modules/commander/lib/command.js
var Command = class _Command extends EventEmitter {
  /**
   * Initialize a new `Command`.
   *
   * @param {string} [name]
   */
  constructor(name) {
    super();
    this.commands = [];
    this.options = [];
    this.parent = null;
    this._allowUnknownOption = false;
    this._allowExcessArguments = false;
    this.registeredArguments = [];
    this._args = this.registeredArguments;
    this.args = [];
    this.rawArgs = [];
    this.processedArgs = [];
    this._scriptPath = null;
    this._name = name || "";
    this._optionValues = {};
    this._optionValueSources = {};
    this._storeOptionsAsProperties = false;
    this._actionHandler = null;
    this._executableHandler = false;
    this._executableFile = null;
    this._executableDir = null;
    this._defaultCommandName = null;
    this._exitCallback = null;
    this._aliases = [];
    this._combineFlagAndOptionalValue = true;
    this._description = "";
    this._summary = "";
    this._argsDescription = void 0;
    this._enablePositionalOptions = false;
    this._passThroughOptions = false;
    this._lifeCycleHooks = {};
    this._showHelpAfterError = false;
    this._showSuggestionAfterError = true;
    this._savedState = null;
    this._outputConfiguration = {
      writeOut: (str) => process2.stdout.write(str),
      writeErr: (str) => process2.stderr.write(str),
      outputError: (str, write) => write(str),
      getOutHelpWidth: () => process2.stdout.isTTY ? process2.stdout.columns : void 0,
      getErrHelpWidth: () => process2.stderr.isTTY ? process2.stderr.columns : void 0,
      getOutHasColors: () => useColor() ?? (process2.stdout.isTTY && process2.stdout.hasColors?.()),
      getErrHasColors: () => useColor() ?? (process2.stderr.isTTY && process2.stderr.hasColors?.()),
      stripColor: (str) => stripVTControlCharacters2(str)
    };
    this._hidden = false;
    this._helpOption = void 0;
    this._addImplicitHelpCommand = void 0;
    this._helpCommand = void 0;
    this._helpConfiguration = {};
    this._helpGroupHeading = void 0;
    this._defaultCommandGroup = void 0;
    this._defaultOptionGroup = void 0;
  }
  /**
   * Copy settings that are useful to have in common across root command and subcommands.
   *
   * (Used internally when adding a command using `.command()` so subcommands inherit parent settings.)
   *
   * @param {Command} sourceCommand
   * @return {Command} `this` command for chaining
   */
  copyInheritedSettings(sourceCommand) {
    this._outputConfiguration = sourceCommand._outputConfiguration;
    this._helpOption = sourceCommand._helpOption;
    this._helpCommand = sourceCommand._helpCommand;
    this._helpConfiguration = sourceCommand._helpConfiguration;
    this._exitCallback = sourceCommand._exitCallback;
    this._storeOptionsAsProperties = sourceCommand._storeOptionsAsProperties;
    this._combineFlagAndOptionalValue = sourceCommand._combineFlagAndOptionalValue;
    this._allowExcessArguments = sourceCommand._allowExcessArguments;
    this._enablePositionalOptions = sourceCommand._enablePositionalOptions;
    this._showHelpAfterError = sourceCommand._showHelpAfterError;
    this._showSuggestionAfterError = sourceCommand._showSuggestionAfterError;
    return this;
  }
  /**
   * @returns {Command[]}
   * @private
   */
  _getCommandAndAncestors() {
    const result = [];
    for (let command2 = this; command2; command2 = command2.parent) {
      result.push(command2);
    }
    return result;
  }
  /**
   * Define a command.
   *
   * There are two styles of command: pay attention to where to put the description.
   *
   * @example
   * // Command implemented using action handler (description is supplied separately to `.command`)
   * program
   *   .command('clone <source> [destination]')
   *   .description('clone a repository into a newly created directory')
   *   .action((source, destination) => {
   *     console.log('clone command called');
   *   });
   *
   * // Command implemented using separate executable file (description is second parameter to `.command`)
   * program
   *   .command('start <service>', 'start named service')
   *   .command('stop [service]', 'stop named service, or all if no name supplied');
   *
   * @param {string} nameAndArgs - command name and arguments, args are `<required>` or `[optional]` and last may also be `variadic...`
   * @param {(object | string)} [actionOptsOrExecDesc] - configuration options (for action), or description (for executable)
   * @param {object} [execOpts] - configuration options (for executable)
   * @return {Command} returns new command for action handler, or `this` for executable command
   */
  command(nameAndArgs, actionOptsOrExecDesc, execOpts) {
    let desc = actionOptsOrExecDesc;
    let opts = execOpts;
    if (typeof desc === "object" && desc !== null) {
      opts = desc;
      desc = null;
    }
    opts = opts || {};
    const [, name, args] = nameAndArgs.match(/([^ ]+) *(.*)/);
    const cmd = this.createCommand(name);
    if (desc) {
      cmd.description(desc);
      cmd._executableHandler = true;
    }
    if (opts.isDefault) this._defaultCommandName = cmd._name;
    cmd._hidden = !!(opts.noHelp || opts.hidden);
    cmd._executableFile = opts.executableFile || null;
    if (args) cmd.arguments(args);
    this._registerCommand(cmd);
    cmd.parent = this;
    cmd.copyInheritedSettings(this);
    if (desc) return this;
    return cmd;
  }
  /**
   * Factory routine to create a new unattached command.
   *
   * See .command() for creating an attached subcommand, which uses this routine to
   * create the command. You can override createCommand to customise subcommands.
   *
   * @param {string} [name]
   * @return {Command} new command
   */
  createCommand(name) {
    return new _Command(name);
  }
  /**
   * You can customise the help with a subclass of Help by overriding createHelp,
   * or by overriding Help properties using configureHelp().
   *
   * @return {Help}
   */
  createHelp() {
    return Object.assign(new Help(), this.configureHelp());
  }
  /**
   * You can customise the help by overriding Help properties using configureHelp(),
   * or with a subclass of Help by overriding createHelp().
   *
   * @param {object} [configuration] - configuration options
   * @return {(Command | object)} `this` command for chaining, or stored configuration
   */
  configureHelp(configuration) {
    if (configuration === void 0) return this._helpConfiguration;
    this._helpConfiguration = configuration;
    return this;
  }
  /**
   * The default output goes to stdout and stderr. You can customise this for special
   * applications. You can also customise the display of errors by overriding outputError.
   *
   * The configuration properties are all functions:
   *
   *     // change how output being written, defaults to stdout and stderr
   *     writeOut(str)
   *     writeErr(str)
   *     // change how output being written for errors, defaults to writeErr
   *     outputError(str, write) // used for displaying errors and not used for displaying help
   *     // specify width for wrapping help
   *     getOutHelpWidth()
   *     getErrHelpWidth()
   *     // color support, currently only used with Help
   *     getOutHasColors()
   *     getErrHasColors()
   *     stripColor() // used to remove ANSI escape codes if output does not have colors
   *
   * @param {object} [configuration] - configuration options
   * @return {(Command | object)} `this` command for chaining, or stored configuration
   */
  configureOutput(configuration) {
    if (configuration === void 0) return this._outputConfiguration;
    this._outputConfiguration = {
      ...this._outputConfiguration,
      ...configuration
    };
    return this;
  }
  /**
   * Display the help or a custom message after an error occurs.
   *
   * @param {(boolean|string)} [displayHelp]
   * @return {Command} `this` command for chaining
   */
  showHelpAfterError(displayHelp = true) {
    if (typeof displayHelp !== "string") displayHelp = !!displayHelp;
    this._showHelpAfterError = displayHelp;
    return this;
  }
  /**
   * Display suggestion of similar commands for unknown commands, or options for unknown options.
   *
   * @param {boolean} [displaySuggestion]
   * @return {Command} `this` command for chaining
   */
  showSuggestionAfterError(displaySuggestion = true) {
    this._showSuggestionAfterError = !!displaySuggestion;
    return this;
  }
  /**
   * Add a prepared subcommand.
   *
   * See .command() for creating an attached subcommand which inherits settings from its parent.
   *
   * @param {Command} cmd - new subcommand
   * @param {object} [opts] - configuration options
   * @return {Command} `this` command for chaining
   */
  addCommand(cmd, opts) {
    if (!cmd._name) {
      throw new Error(`Command passed to .addCommand() must have a name
- specify the name in Command constructor or using .name()`);
    }
    opts = opts || {};
    if (opts.isDefault) this._defaultCommandName = cmd._name;
    if (opts.noHelp || opts.hidden) cmd._hidden = true;
    this._registerCommand(cmd);
    cmd.parent = this;
    cmd._checkForBrokenPassThrough();
    return this;
  }
  /**
   * Factory routine to create a new unattached argument.
   *
   * See .argument() for creating an attached argument, which uses this routine to
   * create the argument. You can override createArgument to return a custom argument.
   *
   * @param {string} name
   * @param {string} [description]
   * @return {Argument} new argument
   */
  createArgument(name, description) {
    return new Argument(name, description);
  }
  /**
   * Define argument syntax for command.
   *
   * The default is that the argument is required, and you can explicitly
   * indicate this with <> around the name. Put [] around the name for an optional argument.
   *
   * @example
   * program.argument('<input-file>');
   * program.argument('[output-file]');
   *
   * @param {string} name
   * @param {string} [description]
   * @param {(Function|*)} [parseArg] - custom argument processing function or default value
   * @param {*} [defaultValue]
   * @return {Command} `this` command for chaining
   */
  argument(name, description, parseArg, defaultValue) {
    const argument = this.createArgument(name, description);
    if (typeof parseArg === "function") {
      argument.default(defaultValue).argParser(parseArg);
    } else {
      argument.default(parseArg);
    }
    this.addArgument(argument);
    return this;
  }
  /**
   * Define argument syntax for command, adding multiple at once (without descriptions).
   *
   * See also .argument().
   *
   * @example
   * program.arguments('<cmd> [env]');
   *
   * @param {string} names
   * @return {Command} `this` command for chaining
   */
  arguments(names) {
    names.trim().split(/ +/).forEach((detail) => {
      this.argument(detail);
    });
    return this;
  }
  /**
   * Define argument syntax for command, adding a prepared argument.
   *
   * @param {Argument} argument
   * @return {Command} `this` command for chaining
   */
  addArgument(argument) {
    const previousArgument = this.registeredArguments.slice(-1)[0];
    if (previousArgument?.variadic) {
      throw new Error(
        `only the last argument can be variadic '${previousArgument.name()}'`
      );
    }
    if (argument.required && argument.defaultValue !== void 0 && argument.parseArg === void 0) {
      throw new Error(
        `a default value for a required argument is never used: '${argument.name()}'`
      );
    }
    this.registeredArguments.push(argument);
    return this;
  }
  /**
   * Customise or override default help command. By default a help command is automatically added if your command has subcommands.
   *
   * @example
   *    program.helpCommand('help [cmd]');
   *    program.helpCommand('help [cmd]', 'show help');
   *    program.helpCommand(false); // suppress default help command
   *    program.helpCommand(true); // add help command even if no subcommands
   *
   * @param {string|boolean} enableOrNameAndArgs - enable with custom name and/or arguments, or boolean to override whether added
   * @param {string} [description] - custom description
   * @return {Command} `this` command for chaining
   */
  helpCommand(enableOrNameAndArgs, description) {
    if (typeof enableOrNameAndArgs === "boolean") {
      this._addImplicitHelpCommand = enableOrNameAndArgs;
      if (enableOrNameAndArgs && this._defaultCommandGroup) {
        this._initCommandGroup(this._getHelpCommand());
      }
      return this;
    }
    const nameAndArgs = enableOrNameAndArgs ?? "help [command]";
    const [, helpName, helpArgs] = nameAndArgs.match(/([^ ]+) *(.*)/);
    const helpDescription = description ?? "display help for command";
    const helpCommand = this.createCommand(helpName);
    helpCommand.helpOption(false);
    if (helpArgs) helpCommand.arguments(helpArgs);
    if (helpDescription) helpCommand.description(helpDescription);
    this._addImplicitHelpCommand = true;
    this._helpCommand = helpCommand;
    if (enableOrNameAndArgs || description) this._initCommandGroup(helpCommand);
    return this;
  }
  /**
   * Add prepared custom help command.
   *
   * @param {(Command|string|boolean)} helpCommand - custom help command, or deprecated enableOrNameAndArgs as for `.helpCommand()`
   * @param {string} [deprecatedDescription] - deprecated custom description used with custom name only
   * @return {Command} `this` command for chaining
   */
  addHelpCommand(helpCommand, deprecatedDescription) {
    if (typeof helpCommand !== "object") {
      this.helpCommand(helpCommand, deprecatedDescription);
      return this;
    }
    this._addImplicitHelpCommand = true;
    this._helpCommand = helpCommand;
    this._initCommandGroup(helpCommand);
    return this;
  }
  /**
   * Lazy create help command.
   *
   * @return {(Command|null)}
   * @package
   */
  _getHelpCommand() {
    const hasImplicitHelpCommand = this._addImplicitHelpCommand ?? (this.commands.length && !this._actionHandler && !this._findCommand("help"));
    if (hasImplicitHelpCommand) {
      if (this._helpCommand === void 0) {
        this.helpCommand(void 0, void 0);
      }
      return this._helpCommand;
    }
    return null;
  }
  /**
   * Add hook for life cycle event.
   *
   * @param {string} event
   * @param {Function} listener
   * @return {Command} `this` command for chaining
   */
  hook(event7, listener) {
    const allowedValues = ["preSubcommand", "preAction", "postAction"];
    if (!allowedValues.includes(event7)) {
      throw new Error(`Unexpected value for event passed to hook : '${event7}'.
Expecting one of '${allowedValues.join("', '")}'`);
    }
    if (this._lifeCycleHooks[event7]) {
      this._lifeCycleHooks[event7].push(listener);
    } else {
      this._lifeCycleHooks[event7] = [listener];
    }
    return this;
  }
  /**
   * Register callback to use as replacement for calling process.exit.
   *
   * @param {Function} [fn] optional callback which will be passed a CommanderError, defaults to throwing
   * @return {Command} `this` command for chaining
   */
  exitOverride(fn) {
    if (fn) {
      this._exitCallback = fn;
    } else {
      this._exitCallback = (err) => {
        if (err.code !== "commander.executeSubCommandAsync") {
          throw err;
        } else {
        }
      };
    }
    return this;
  }
  /**
   * Call process.exit, and _exitCallback if defined.
   *
   * @param {number} exitCode exit code for using with process.exit
   * @param {string} code an id string representing the error
   * @param {string} message human-readable description of the error
   * @return never
   * @private
   */
  _exit(exitCode, code, message) {
    if (this._exitCallback) {
      this._exitCallback(new CommanderError(exitCode, code, message));
    }
    process2.exit(exitCode);
  }
  /**
   * Register callback `fn` for the command.
   *
   * @example
   * program
   *   .command('serve')
   *   .description('start service')
   *   .action(function() {
   *      // do work here
   *   });
   *
   * @param {Function} fn
   * @return {Command} `this` command for chaining
   */
  action(fn) {
    const listener = (args) => {
      const expectedArgsCount = this.registeredArguments.length;
      const actionArgs = args.slice(0, expectedArgsCount);
      if (this._storeOptionsAsProperties) {
        actionArgs[expectedArgsCount] = this;
      } else {
        actionArgs[expectedArgsCount] = this.opts();
      }
      actionArgs.push(this);
      return fn.apply(this, actionArgs);
    };
    this._actionHandler = listener;
    return this;
  }
  /**
   * Factory routine to create a new unattached option.
   *
   * See .option() for creating an attached option, which uses this routine to
   * create the option. You can override createOption to return a custom option.
   *
   * @param {string} flags
   * @param {string} [description]
   * @return {Option} new option
   */
  createOption(flags, description) {
    return new Option(flags, description);
  }
  /**
   * Wrap parseArgs to catch 'commander.invalidArgument'.
   *
   * @param {(Option | Argument)} target
   * @param {string} value
   * @param {*} previous
   * @param {string} invalidArgumentMessage
   * @private
   */
  _callParseArg(target, value, previous, invalidArgumentMessage) {
    try {
      return target.parseArg(value, previous);
    } catch (err) {
      if (err.code === "commander.invalidArgument") {
        const message = `${invalidArgumentMessage} ${err.message}`;
        this.error(message, { exitCode: err.exitCode, code: err.code });
      }
      throw err;
    }
  }
  /**
   * Check for option flag conflicts.
   * Register option if no conflicts found, or throw on conflict.
   *
   * @param {Option} option
   * @private
   */
  _registerOption(option) {
    const matchingOption = option.short && this._findOption(option.short) || option.long && this._findOption(option.long);
    if (matchingOption) {
      const matchingFlag = option.long && this._findOption(option.long) ? option.long : option.short;
      throw new Error(`Cannot add option '${option.flags}'${this._name && ` to command '${this._name}'`} due to conflicting flag '${matchingFlag}'
-  already used by option '${matchingOption.flags}'`);
    }
    this._initOptionGroup(option);
    this.options.push(option);
  }
  /**
   * Check for command name and alias conflicts with existing commands.
   * Register command if no conflicts found, or throw on conflict.
   *
   * @param {Command} command
   * @private
   */
  _registerCommand(command2) {
    const knownBy = (cmd) => {
      return [cmd.name()].concat(cmd.aliases());
    };
    const alreadyUsed = knownBy(command2).find(
      (name) => this._findCommand(name)
    );
    if (alreadyUsed) {
      const existingCmd = knownBy(this._findCommand(alreadyUsed)).join("|");
      const newCmd = knownBy(command2).join("|");
      throw new Error(
        `cannot add command '${newCmd}' as already have command '${existingCmd}'`
      );
    }
    this._initCommandGroup(command2);
    this.commands.push(command2);
  }
  /**
   * Add an option.
   *
   * @param {Option} option
   * @return {Command} `this` command for chaining
   */
  addOption(option) {
    this._registerOption(option);
    const oname = option.name();
    const name = option.attributeName();
    if (option.defaultValue !== void 0) {
      this.setOptionValueWithSource(name, option.defaultValue, "default");
    }
    const handleOptionValue = (val, invalidValueMessage, valueSource) => {
      if (val == null && option.presetArg !== void 0) {
        val = option.presetArg;
      }
      const oldValue = this.getOptionValue(name);
      if (val !== null && option.parseArg) {
        val = this._callParseArg(option, val, oldValue, invalidValueMessage);
      } else if (val !== null && option.variadic) {
        val = option._collectValue(val, oldValue);
      }
      if (val == null) {
        if (option.negate) {
          val = false;
        } else if (option.isBoolean() || option.optional) {
          val = true;
        } else {
          val = "";
        }
      }
      this.setOptionValueWithSource(name, val, valueSource);
    };
    this.on("option:" + oname, (val) => {
      const invalidValueMessage = `error: option '${option.flags}' argument '${val}' is invalid.`;
      handleOptionValue(val, invalidValueMessage, "cli");
    });
    if (option.envVar) {
      this.on("optionEnv:" + oname, (val) => {
        const invalidValueMessage = `error: option '${option.flags}' value '${val}' from env '${option.envVar}' is invalid.`;
        handleOptionValue(val, invalidValueMessage, "env");
      });
    }
    return this;
  }
  /**
   * Internal implementation shared by .option() and .requiredOption()
   *
   * @return {Command} `this` command for chaining
   * @private
   */
  _optionEx(config, flags, description, fn, defaultValue) {
    if (typeof flags === "object" && flags instanceof Option) {
      throw new Error(
        "To add an Option object use addOption() instead of option() or requiredOption()"
      );
    }
    const option = this.createOption(flags, description);
    option.makeOptionMandatory(!!config.mandatory);
    if (typeof fn === "function") {
      option.default(defaultValue).argParser(fn);
    } else if (fn instanceof RegExp) {
      const regex = fn;
      fn = (val, def) => {
        const m = regex.exec(val);
        return m ? m[0] : def;
      };
      option.default(defaultValue).argParser(fn);
    } else {
      option.default(fn);
    }
    return this.addOption(option);
  }
  /**
   * Define option with `flags`, `description`, and optional argument parsing function or `defaultValue` or both.
   *
   * The `flags` string contains the short and/or long flags, separated by comma, a pipe or space. A required
   * option-argument is indicated by `<>` and an optional option-argument by `[]`.
   *
   * See the README for more details, and see also addOption() and requiredOption().
   *
   * @example
   * program
   *     .option('-p, --pepper', 'add pepper')
   *     .option('--pt, --pizza-type <TYPE>', 'type of pizza') // required option-argument
   *     .option('-c, --cheese [CHEESE]', 'add extra cheese', 'mozzarella') // optional option-argument with default
   *     .option('-t, --tip <VALUE>', 'add tip to purchase cost', parseFloat) // custom parse function
   *
   * @param {string} flags
   * @param {string} [description]
   * @param {(Function|*)} [parseArg] - custom option processing function or default value
   * @param {*} [defaultValue]
   * @return {Command} `this` command for chaining
   */
  option(flags, description, parseArg, defaultValue) {
    return this._optionEx({}, flags, description, parseArg, defaultValue);
  }
  /**
   * Add a required option which must have a value after parsing. This usually means
   * the option must be specified on the command line. (Otherwise the same as .option().)
   *
   * The `flags` string contains the short and/or long flags, separated by comma, a pipe or space.
   *
   * @param {string} flags
   * @param {string} [description]
   * @param {(Function|*)} [parseArg] - custom option processing function or default value
   * @param {*} [defaultValue]
   * @return {Command} `this` command for chaining
   */
  requiredOption(flags, description, parseArg, defaultValue) {
    return this._optionEx(
      { mandatory: true },
      flags,
      description,
      parseArg,
      defaultValue
    );
  }
  /**
   * Alter parsing of short flags with optional values.
   *
   * @example
   * // for `.option('-f,--flag [value]'):
   * program.combineFlagAndOptionalValue(true);  // `-f80` is treated like `--flag=80`, this is the default behaviour
   * program.combineFlagAndOptionalValue(false) // `-fb` is treated like `-f -b`
   *
   * @param {boolean} [combine] - if `true` or omitted, an optional value can be specified directly after the flag.
   * @return {Command} `this` command for chaining
   */
  combineFlagAndOptionalValue(combine = true) {
    this._combineFlagAndOptionalValue = !!combine;
    return this;
  }
  /**
   * Allow unknown options on the command line.
   *
   * @param {boolean} [allowUnknown] - if `true` or omitted, no error will be thrown for unknown options.
   * @return {Command} `this` command for chaining
   */
  allowUnknownOption(allowUnknown = true) {
    this._allowUnknownOption = !!allowUnknown;
    return this;
  }
  /**
   * Allow excess command-arguments on the command line. Pass false to make excess arguments an error.
   *
   * @param {boolean} [allowExcess] - if `true` or omitted, no error will be thrown for excess arguments.
   * @return {Command} `this` command for chaining
   */
  allowExcessArguments(allowExcess = true) {
    this._allowExcessArguments = !!allowExcess;
    return this;
  }
  /**
   * Enable positional options. Positional means global options are specified before subcommands which lets
   * subcommands reuse the same option names, and also enables subcommands to turn on passThroughOptions.
   * The default behaviour is non-positional and global options may appear anywhere on the command line.
   *
   * @param {boolean} [positional]
   * @return {Command} `this` command for chaining
   */
  enablePositionalOptions(positional = true) {
    this._enablePositionalOptions = !!positional;
    return this;
  }
  /**
   * Pass through options that come after command-arguments rather than treat them as command-options,
   * so actual command-options come before command-arguments. Turning this on for a subcommand requires
   * positional options to have been enabled on the program (parent commands).
   * The default behaviour is non-positional and options may appear before or after command-arguments.
   *
   * @param {boolean} [passThrough] for unknown options.
   * @return {Command} `this` command for chaining
   */
  passThroughOptions(passThrough = true) {
    this._passThroughOptions = !!passThrough;
    this._checkForBrokenPassThrough();
    return this;
  }
  /**
   * @private
   */
  _checkForBrokenPassThrough() {
    if (this.parent && this._passThroughOptions && !this.parent._enablePositionalOptions) {
      throw new Error(
        `passThroughOptions cannot be used for '${this._name}' without turning on enablePositionalOptions for parent command(s)`
      );
    }
  }
  /**
   * Whether to store option values as properties on command object,
   * or store separately (specify false). In both cases the option values can be accessed using .opts().
   *
   * @param {boolean} [storeAsProperties=true]
   * @return {Command} `this` command for chaining
   */
  storeOptionsAsProperties(storeAsProperties = true) {
    if (this.options.length) {
      throw new Error("call .storeOptionsAsProperties() before adding options");
    }
    if (Object.keys(this._optionValues).length) {
      throw new Error(
        "call .storeOptionsAsProperties() before setting option values"
      );
    }
    this._storeOptionsAsProperties = !!storeAsProperties;
    return this;
  }
  /**
   * Retrieve option value.
   *
   * @param {string} key
   * @return {object} value
   */
  getOptionValue(key) {
    if (this._storeOptionsAsProperties) {
      return this[key];
    }
    return this._optionValues[key];
  }
  /**
   * Store option value.
   *
   * @param {string} key
   * @param {object} value
   * @return {Command} `this` command for chaining
   */
  setOptionValue(key, value) {
    return this.setOptionValueWithSource(key, value, void 0);
  }
  /**
   * Store option value and where the value came from.
   *
   * @param {string} key
   * @param {object} value
   * @param {string} source - expected values are default/config/env/cli/implied
   * @return {Command} `this` command for chaining
   */
  setOptionValueWithSource(key, value, source) {
    if (this._storeOptionsAsProperties) {
      this[key] = value;
    } else {
      this._optionValues[key] = value;
    }
    this._optionValueSources[key] = source;
    return this;
  }
  /**
   * Get source of option value.
   * Expected values are default | config | env | cli | implied
   *
   * @param {string} key
   * @return {string}
   */
  getOptionValueSource(key) {
    return this._optionValueSources[key];
  }
  /**
   * Get source of option value. See also .optsWithGlobals().
   * Expected values are default | config | env | cli | implied
   *
   * @param {string} key
   * @return {string}
   */
  getOptionValueSourceWithGlobals(key) {
    let source;
    this._getCommandAndAncestors().forEach((cmd) => {
      if (Object.hasOwn(cmd._optionValueSources, key)) {
        source = cmd.getOptionValueSource(key);
      }
    });
    return source;
  }
  /**
   * Get user arguments from implied or explicit arguments.
   * Side-effects: set _scriptPath if args included script. Used for default program name, and subcommand searches.
   *
   * @private
   */
  _prepareUserArgs(argv, parseOptions) {
    if (argv !== void 0 && !Array.isArray(argv)) {
      throw new Error("first parameter to parse must be array or undefined");
    }
    parseOptions = parseOptions || {};
    if (argv === void 0 && parseOptions.from === void 0) {
      if (process2.versions?.electron) {
        parseOptions.from = "electron";
      }
      const execArgv = process2.execArgv ?? [];
      if (execArgv.includes("-e") || execArgv.includes("--eval") || execArgv.includes("-p") || execArgv.includes("--print")) {
        parseOptions.from = "eval";
      }
    }
    if (argv === void 0) {
      argv = process2.argv;
    }
    this.rawArgs = argv.slice();
    let userArgs;
    switch (parseOptions.from) {
      case void 0:
      case "node":
        this._scriptPath = argv[1];
        userArgs = argv.slice(2);
        break;
      case "electron":
        if (process2.defaultApp) {
          this._scriptPath = argv[1];
          userArgs = argv.slice(2);
        } else {
          userArgs = argv.slice(1);
        }
        break;
      case "user":
        userArgs = argv.slice(0);
        break;
      case "eval":
        userArgs = argv.slice(1);
        break;
      default:
        throw new Error(
          `unexpected parse option { from: '${parseOptions.from}' }`
        );
    }
    if (!this._name && this._scriptPath)
      this.nameFromFilename(this._scriptPath);
    this._name = this._name || "program";
    return userArgs;
  }
  /**
   * Parse `argv`, setting options and invoking commands when defined.
   *
   * Use parseAsync instead of parse if any of your action handlers are async.
   *
   * Call with no parameters to parse `process.argv`. Detects Electron and special node options like `node --eval`. Easy mode!
   *
   * Or call with an array of strings to parse, and optionally where the user arguments start by specifying where the arguments are `from`:
   * - `'node'`: default, `argv[0]` is the application and `argv[1]` is the script being run, with user arguments after that
   * - `'electron'`: `argv[0]` is the application and `argv[1]` varies depending on whether the electron application is packaged
   * - `'user'`: just user arguments
   *
   * @example
   * program.parse(); // parse process.argv and auto-detect electron and special node flags
   * program.parse(process.argv); // assume argv[0] is app and argv[1] is script
   * program.parse(my-args, { from: 'user' }); // just user supplied arguments, nothing special about argv[0]
   *
   * @param {string[]} [argv] - optional, defaults to process.argv
   * @param {object} [parseOptions] - optionally specify style of options with from: node/user/electron
   * @param {string} [parseOptions.from] - where the args are from: 'node', 'user', 'electron'
   * @return {Command} `this` command for chaining
   */
  parse(argv, parseOptions) {
    this._prepareForParse();
    const userArgs = this._prepareUserArgs(argv, parseOptions);
    this._parseCommand([], userArgs);
    return this;
  }
  /**
   * Parse `argv`, setting options and invoking commands when defined.
   *
   * Call with no parameters to parse `process.argv`. Detects Electron and special node options like `node --eval`. Easy mode!
   *
   * Or call with an array of strings to parse, and optionally where the user arguments start by specifying where the arguments are `from`:
   * - `'node'`: default, `argv[0]` is the application and `argv[1]` is the script being run, with user arguments after that
   * - `'electron'`: `argv[0]` is the application and `argv[1]` varies depending on whether the electron application is packaged
   * - `'user'`: just user arguments
   *
   * @example
   * await program.parseAsync(); // parse process.argv and auto-detect electron and special node flags
   * await program.parseAsync(process.argv); // assume argv[0] is app and argv[1] is script
   * await program.parseAsync(my-args, { from: 'user' }); // just user supplied arguments, nothing special about argv[0]
   *
   * @param {string[]} [argv]
   * @param {object} [parseOptions]
   * @param {string} parseOptions.from - where the args are from: 'node', 'user', 'electron'
   * @return {Promise}
   */
  async parseAsync(argv, parseOptions) {
    this._prepareForParse();
    const userArgs = this._prepareUserArgs(argv, parseOptions);
    await this._parseCommand([], userArgs);
    return this;
  }
  _prepareForParse() {
    if (this._savedState === null) {
      this.options.filter(
        (option) => option.negate && option.defaultValue === void 0 && this.getOptionValue(option.attributeName()) === void 0
      ).forEach((option) => {
        const positiveLongFlag = option.long.replace(/^--no-/, "--");
        if (!this._findOption(positiveLongFlag)) {
          this.setOptionValueWithSource(
            option.attributeName(),
            true,
            "default"
          );
        }
      });
      this.saveStateBeforeParse();
    } else {
      this.restoreStateBeforeParse();
    }
  }
  /**
   * Called the first time parse is called to save state and allow a restore before subsequent calls to parse.
   * Not usually called directly, but available for subclasses to save their custom state.
   *
   * This is called in a lazy way. Only commands used in parsing chain will have state saved.
   */
  saveStateBeforeParse() {
    this._savedState = {
      // name is stable if supplied by author, but may be unspecified for root command and deduced during parsing
      _name: this._name,
      // option values before parse have default values (including false for negated options)
      // shallow clones
      _optionValues: { ...this._optionValues },
      _optionValueSources: { ...this._optionValueSources }
    };
  }
  /**
   * Restore state before parse for calls after the first.
   * Not usually called directly, but available for subclasses to save their custom state.
   *
   * This is called in a lazy way. Only commands used in parsing chain will have state restored.
   */
  restoreStateBeforeParse() {
    if (this._storeOptionsAsProperties)
      throw new Error(`Can not call parse again when storeOptionsAsProperties is true.
- either make a new Command for each call to parse, or stop storing options as properties`);
    this._name = this._savedState._name;
    this._scriptPath = null;
    this.rawArgs = [];
    this._optionValues = { ...this._savedState._optionValues };
    this._optionValueSources = { ...this._savedState._optionValueSources };
    this.args = [];
    this.processedArgs = [];
  }
  /**
   * Throw if expected executable is missing. Add lots of help for author.
   *
   * @param {string} executableFile
   * @param {string} executableDir
   * @param {string} subcommandName
   */
  _checkForMissingExecutable(executableFile, executableDir, subcommandName) {
    if (fs.existsSync(executableFile)) return;
    const executableDirMessage = executableDir ? `searched for local subcommand relative to directory '${executableDir}'` : "no directory for search for local subcommand, use .executableDir() to supply a custom directory";
    const executableMissing = `'${executableFile}' does not exist
 - if '${subcommandName}' is not meant to be an executable command, remove description parameter from '.command()' and use '.description()' instead
 - if the default executable name is not suitable, use the executableFile option to supply a custom name or path
 - ${executableDirMessage}`;
    throw new Error(executableMissing);
  }
  /**
   * Execute a sub-command executable.
   *
   * @private
   */
  _executeSubCommand(subcommand, args) {
    args = args.slice();
    const sourceExt = [".js", ".ts", ".tsx", ".mjs", ".cjs"];
    function findFile(baseDir, baseName) {
      const localBin = path.resolve(baseDir, baseName);
      if (fs.existsSync(localBin)) return localBin;
      if (sourceExt.includes(path.extname(baseName))) return void 0;
      const foundExt = sourceExt.find(
        (ext) => fs.existsSync(`${localBin}${ext}`)
      );
      if (foundExt) return `${localBin}${foundExt}`;
      return void 0;
    }
    this._checkForMissingMandatoryOptions();
    this._checkForConflictingOptions();
    let executableFile = subcommand._executableFile || `${this._name}-${subcommand._name}`;
    let executableDir = this._executableDir || "";
    if (this._scriptPath) {
      let resolvedScriptPath;
      try {
        resolvedScriptPath = fs.realpathSync(this._scriptPath);
      } catch {
        resolvedScriptPath = this._scriptPath;
      }
      executableDir = path.resolve(
        path.dirname(resolvedScriptPath),
        executableDir
      );
    }
    if (executableDir) {
      let localFile = findFile(executableDir, executableFile);
      if (!localFile && !subcommand._executableFile && this._scriptPath) {
        const legacyName = path.basename(
          this._scriptPath,
          path.extname(this._scriptPath)
        );
        if (legacyName !== this._name) {
          localFile = findFile(
            executableDir,
            `${legacyName}-${subcommand._name}`
          );
        }
      }
      executableFile = localFile || executableFile;
    }
    const launchWithNode = sourceExt.includes(path.extname(executableFile));
    let proc;
    if (process2.platform !== "win32") {
      if (launchWithNode) {
        args.unshift(executableFile);
        args = incrementNodeInspectorPort(process2.execArgv).concat(args);
        proc = childProcess.spawn(process2.argv[0], args, { stdio: "inherit" });
      } else {
        proc = childProcess.spawn(executableFile, args, { stdio: "inherit" });
      }
    } else {
      this._checkForMissingExecutable(
        executableFile,
        executableDir,
        subcommand._name
      );
      args.unshift(executableFile);
      args = incrementNodeInspectorPort(process2.execArgv).concat(args);
      proc = childProcess.spawn(process2.execPath, args, { stdio: "inherit" });
    }
    if (!proc.killed) {
      const signals = ["SIGUSR1", "SIGUSR2", "SIGTERM", "SIGINT", "SIGHUP"];
      signals.forEach((signal) => {
        process2.on(signal, () => {
          if (proc.killed === false && proc.exitCode === null) {
            proc.kill(signal);
          }
        });
      });
    }
    const exitCallback = this._exitCallback;
    proc.on("close", (code) => {
      code = code ?? 1;
      if (!exitCallback) {
        process2.exit(code);
      } else {
        exitCallback(
          new CommanderError(
            code,
            "commander.executeSubCommandAsync",
            "(close)"
          )
        );
      }
    });
    proc.on("error", (err) => {
      if (err.code === "ENOENT") {
        this._checkForMissingExecutable(
          executableFile,
          executableDir,
          subcommand._name
        );
      } else if (err.code === "EACCES") {
        throw new Error(`'${executableFile}' not executable`);
      }
      if (!exitCallback) {
        process2.exit(1);
      } else {
        const wrappedError = new CommanderError(
          1,
          "commander.executeSubCommandAsync",
          "(error)"
        );
        wrappedError.nestedError = err;
        exitCallback(wrappedError);
      }
    });
    this.runningCommand = proc;
  }
  /**
   * @private
   */
  _dispatchSubcommand(commandName, operands, unknown) {
    const subCommand = this._findCommand(commandName);
    if (!subCommand) this.help({ error: true });
    subCommand._prepareForParse();
    let promiseChain;
    promiseChain = this._chainOrCallSubCommandHook(
      promiseChain,
      subCommand,
      "preSubcommand"
    );
    promiseChain = this._chainOrCall(promiseChain, () => {
      if (subCommand._executableHandler) {
        this._executeSubCommand(subCommand, operands.concat(unknown));
      } else {
        return subCommand._parseCommand(operands, unknown);
      }
    });
    return promiseChain;
  }
  /**
   * Invoke help directly if possible, or dispatch if necessary.
   * e.g. help foo
   *
   * @private
   */
  _dispatchHelpCommand(subcommandName) {
    if (!subcommandName) {
      this.help();
    }
    const subCommand = this._findCommand(subcommandName);
    if (subCommand && !subCommand._executableHandler) {
      subCommand.help();
    }
    return this._dispatchSubcommand(
      subcommandName,
      [],
      [this._getHelpOption()?.long ?? this._getHelpOption()?.short ?? "--help"]
    );
  }
  /**
   * Check this.args against expected this.registeredArguments.
   *
   * @private
   */
  _checkNumberOfArguments() {
    this.registeredArguments.forEach((arg, i) => {
      if (arg.required && this.args[i] == null) {
        this.missingArgument(arg.name());
      }
    });
    if (this.registeredArguments.length > 0 && this.registeredArguments[this.registeredArguments.length - 1].variadic) {
      return;
    }
    if (this.args.length > this.registeredArguments.length) {
      this._excessArguments(this.args);
    }
  }
  /**
   * Process this.args using this.registeredArguments and save as this.processedArgs!
   *
   * @private
   */
  _processArguments() {
    const myParseArg = (argument, value, previous) => {
      let parsedValue = value;
      if (value !== null && argument.parseArg) {
        const invalidValueMessage = `error: command-argument value '${value}' is invalid for argument '${argument.name()}'.`;
        parsedValue = this._callParseArg(
          argument,
          value,
          previous,
          invalidValueMessage
        );
      }
      return parsedValue;
    };
    this._checkNumberOfArguments();
    const processedArgs = [];
    this.registeredArguments.forEach((declaredArg, index) => {
      let value = declaredArg.defaultValue;
      if (declaredArg.variadic) {
        if (index < this.args.length) {
          value = this.args.slice(index);
          if (declaredArg.parseArg) {
            value = value.reduce((processed, v) => {
              return myParseArg(declaredArg, v, processed);
            }, declaredArg.defaultValue);
          }
        } else if (value === void 0) {
          value = [];
        }
      } else if (index < this.args.length) {
        value = this.args[index];
        if (declaredArg.parseArg) {
          value = myParseArg(declaredArg, value, declaredArg.defaultValue);
        }
      }
      processedArgs[index] = value;
    });
    this.processedArgs = processedArgs;
  }
  /**
   * Once we have a promise we chain, but call synchronously until then.
   *
   * @param {(Promise|undefined)} promise
   * @param {Function} fn
   * @return {(Promise|undefined)}
   * @private
   */
  _chainOrCall(promise, fn) {
    if (promise?.then && typeof promise.then === "function") {
      return promise.then(() => fn());
    }
    return fn();
  }
  /**
   *
   * @param {(Promise|undefined)} promise
   * @param {string} event
   * @return {(Promise|undefined)}
   * @private
   */
  _chainOrCallHooks(promise, event7) {
    let result = promise;
    const hooks = [];
    this._getCommandAndAncestors().reverse().filter((cmd) => cmd._lifeCycleHooks[event7] !== void 0).forEach((hookedCommand) => {
      hookedCommand._lifeCycleHooks[event7].forEach((callback) => {
        hooks.push({ hookedCommand, callback });
      });
    });
    if (event7 === "postAction") {
      hooks.reverse();
    }
    hooks.forEach((hookDetail) => {
      result = this._chainOrCall(result, () => {
        return hookDetail.callback(hookDetail.hookedCommand, this);
      });
    });
    return result;
  }
  /**
   *
   * @param {(Promise|undefined)} promise
   * @param {Command} subCommand
   * @param {string} event
   * @return {(Promise|undefined)}
   * @private
   */
  _chainOrCallSubCommandHook(promise, subCommand, event7) {
    let result = promise;
    if (this._lifeCycleHooks[event7] !== void 0) {
      this._lifeCycleHooks[event7].forEach((hook) => {
        result = this._chainOrCall(result, () => {
          return hook(this, subCommand);
        });
      });
    }
    return result;
  }
  /**
   * Process arguments in context of this command.
   * Returns action result, in case it is a promise.
   *
   * @private
   */
  _parseCommand(operands, unknown) {
    const parsed = this.parseOptions(unknown);
    this._parseOptionsEnv();
    this._parseOptionsImplied();
    operands = operands.concat(parsed.operands);
    unknown = parsed.unknown;
    this.args = operands.concat(unknown);
    if (operands && this._findCommand(operands[0])) {
      return this._dispatchSubcommand(operands[0], operands.slice(1), unknown);
    }
    if (this._getHelpCommand() && operands[0] === this._getHelpCommand().name()) {
      return this._dispatchHelpCommand(operands[1]);
    }
    if (this._defaultCommandName) {
      this._outputHelpIfRequested(unknown);
      return this._dispatchSubcommand(
        this._defaultCommandName,
        operands,
        unknown
      );
    }
    if (this.commands.length && this.args.length === 0 && !this._actionHandler && !this._defaultCommandName) {
      this.help({ error: true });
    }
    this._outputHelpIfRequested(parsed.unknown);
    this._checkForMissingMandatoryOptions();
    this._checkForConflictingOptions();
    const checkForUnknownOptions = () => {
      if (parsed.unknown.length > 0) {
        this.unknownOption(parsed.unknown[0]);
      }
    };
    const commandEvent = `command:${this.name()}`;
    if (this._actionHandler) {
      checkForUnknownOptions();
      this._processArguments();
      let promiseChain;
      promiseChain = this._chainOrCallHooks(promiseChain, "preAction");
      promiseChain = this._chainOrCall(
        promiseChain,
        () => this._actionHandler(this.processedArgs)
      );
      if (this.parent) {
        promiseChain = this._chainOrCall(promiseChain, () => {
          this.parent.emit(commandEvent, operands, unknown);
        });
      }
      promiseChain = this._chainOrCallHooks(promiseChain, "postAction");
      return promiseChain;
    }
    if (this.parent?.listenerCount(commandEvent)) {
      checkForUnknownOptions();
      this._processArguments();
      this.parent.emit(commandEvent, operands, unknown);
    } else if (operands.length) {
      if (this._findCommand("*")) {
        return this._dispatchSubcommand("*", operands, unknown);
      }
      if (this.listenerCount("command:*")) {
        this.emit("command:*", operands, unknown);
      } else if (this.commands.length) {
        this.unknownCommand();
      } else {
        checkForUnknownOptions();
        this._processArguments();
      }
    } else if (this.commands.length) {
      checkForUnknownOptions();
      this.help({ error: true });
    } else {
      checkForUnknownOptions();
      this._processArguments();
    }
  }
  /**
   * Find matching command.
   *
   * @private
   * @return {Command | undefined}
   */
  _findCommand(name) {
    if (!name) return void 0;
    return this.commands.find(
      (cmd) => cmd._name === name || cmd._aliases.includes(name)
    );
  }
  /**
   * Return an option matching `arg` if any.
   *
   * @param {string} arg
   * @return {Option}
   * @package
   */
  _findOption(arg) {
    return this.options.find((option) => option.is(arg));
  }
  /**
   * Display an error message if a mandatory option does not have a value.
   * Called after checking for help flags in leaf subcommand.
   *
   * @private
   */
  _checkForMissingMandatoryOptions() {
    this._getCommandAndAncestors().forEach((cmd) => {
      cmd.options.forEach((anOption) => {
        if (anOption.mandatory && cmd.getOptionValue(anOption.attributeName()) === void 0) {
          cmd.missingMandatoryOptionValue(anOption);
        }
      });
    });
  }
  /**
   * Display an error message if conflicting options are used together in this.
   *
   * @private
   */
  _checkForConflictingLocalOptions() {
    const definedNonDefaultOptions = this.options.filter((option) => {
      const optionKey = option.attributeName();
      if (this.getOptionValue(optionKey) === void 0) {
        return false;
      }
      return this.getOptionValueSource(optionKey) !== "default";
    });
    const optionsWithConflicting = definedNonDefaultOptions.filter(
      (option) => option.conflictsWith.length > 0
    );
    optionsWithConflicting.forEach((option) => {
      const conflictingAndDefined = definedNonDefaultOptions.find(
        (defined) => option.conflictsWith.includes(defined.attributeName())
      );
      if (conflictingAndDefined) {
        this._conflictingOption(option, conflictingAndDefined);
      }
    });
  }
  /**
   * Display an error message if conflicting options are used together.
   * Called after checking for help flags in leaf subcommand.
   *
   * @private
   */
  _checkForConflictingOptions() {
    this._getCommandAndAncestors().forEach((cmd) => {
      cmd._checkForConflictingLocalOptions();
    });
  }
  /**
   * Parse options from `argv` removing known options,
   * and return argv split into operands and unknown arguments.
   *
   * Side effects: modifies command by storing options. Does not reset state if called again.
   *
   * Examples:
   *
   *     argv => operands, unknown
   *     --known kkk op => [op], []
   *     op --known kkk => [op], []
   *     sub --unknown uuu op => [sub], [--unknown uuu op]
   *     sub -- --unknown uuu op => [sub --unknown uuu op], []
   *
   * @param {string[]} args
   * @return {{operands: string[], unknown: string[]}}
   */
  parseOptions(args) {
    const operands = [];
    const unknown = [];
    let dest = operands;
    function maybeOption(arg) {
      return arg.length > 1 && arg[0] === "-";
    }
    const negativeNumberArg = (arg) => {
      if (!/^-(\d+|\d*\.\d+)([eE][+-]?\d+)?$/.test(arg)) return false;
      return !this._getCommandAndAncestors().some(
        (cmd) => cmd.options.map((opt) => opt.short).some((short) => /^-\d$/.test(short))
      );
    };
    let activeVariadicOption = null;
    let activeGroup = null;
    let i = 0;
    while (i < args.length || activeGroup) {
      const arg = activeGroup ?? args[i++];
      activeGroup = null;
      if (arg === "--") {
        if (dest === unknown) dest.push(arg);
        dest.push(...args.slice(i));
        break;
      }
      if (activeVariadicOption && (!maybeOption(arg) || negativeNumberArg(arg))) {
        this.emit(`option:${activeVariadicOption.name()}`, arg);
        continue;
      }
      activeVariadicOption = null;
      if (maybeOption(arg)) {
        const option = this._findOption(arg);
        if (option) {
          if (option.required) {
            const value = args[i++];
            if (value === void 0) this.optionMissingArgument(option);
            this.emit(`option:${option.name()}`, value);
          } else if (option.optional) {
            let value = null;
            if (i < args.length && (!maybeOption(args[i]) || negativeNumberArg(args[i]))) {
              value = args[i++];
            }
            this.emit(`option:${option.name()}`, value);
          } else {
            this.emit(`option:${option.name()}`);
          }
          activeVariadicOption = option.variadic ? option : null;
          continue;
        }
      }
      if (arg.length > 2 && arg[0] === "-" && arg[1] !== "-") {
        const option = this._findOption(`-${arg[1]}`);
        if (option) {
          if (option.required || option.optional && this._combineFlagAndOptionalValue) {
            this.emit(`option:${option.name()}`, arg.slice(2));
          } else {
            this.emit(`option:${option.name()}`);
            activeGroup = `-${arg.slice(2)}`;
          }
          continue;
        }
      }
      if (/^--[^=]+=/.test(arg)) {
        const index = arg.indexOf("=");
        const option = this._findOption(arg.slice(0, index));
        if (option && (option.required || option.optional)) {
          this.emit(`option:${option.name()}`, arg.slice(index + 1));
          continue;
        }
      }
      if (dest === operands && maybeOption(arg) && !(this.commands.length === 0 && negativeNumberArg(arg))) {
        dest = unknown;
      }
      if ((this._enablePositionalOptions || this._passThroughOptions) && operands.length === 0 && unknown.length === 0) {
        if (this._findCommand(arg)) {
          operands.push(arg);
          unknown.push(...args.slice(i));
          break;
        } else if (this._getHelpCommand() && arg === this._getHelpCommand().name()) {
          operands.push(arg, ...args.slice(i));
          break;
        } else if (this._defaultCommandName) {
          unknown.push(arg, ...args.slice(i));
          break;
        }
      }
      if (this._passThroughOptions) {
        dest.push(arg, ...args.slice(i));
        break;
      }
      dest.push(arg);
    }
    return { operands, unknown };
  }
  /**
   * Return an object containing local option values as key-value pairs.
   *
   * @return {object}
   */
  opts() {
    if (this._storeOptionsAsProperties) {
      const result = {};
      const len = this.options.length;
      for (let i = 0; i < len; i++) {
        const key = this.options[i].attributeName();
        result[key] = key === this._versionOptionName ? this._version : this[key];
      }
      return result;
    }
    return this._optionValues;
  }
  /**
   * Return an object containing merged local and global option values as key-value pairs.
   *
   * @return {object}
   */
  optsWithGlobals() {
    return this._getCommandAndAncestors().reduce(
      (combinedOptions, cmd) => Object.assign(combinedOptions, cmd.opts()),
      {}
    );
  }
  /**
   * Display error message and exit (or call exitOverride).
   *
   * @param {string} message
   * @param {object} [errorOptions]
   * @param {string} [errorOptions.code] - an id string representing the error
   * @param {number} [errorOptions.exitCode] - used with process.exit
   */
  error(message, errorOptions) {
    this._outputConfiguration.outputError(
      `${message}
`,
      this._outputConfiguration.writeErr
    );
    if (typeof this._showHelpAfterError === "string") {
      this._outputConfiguration.writeErr(`${this._showHelpAfterError}
`);
    } else if (this._showHelpAfterError) {
      this._outputConfiguration.writeErr("\n");
      this.outputHelp({ error: true });
    }
    const config = errorOptions || {};
    const exitCode = config.exitCode || 1;
    const code = config.code || "commander.error";
    this._exit(exitCode, code, message);
  }
  /**
   * Apply any option related environment variables, if option does
   * not have a value from cli or client code.
   *
   * @private
   */
  _parseOptionsEnv() {
    this.options.forEach((option) => {
      if (option.envVar && option.envVar in process2.env) {
        const optionKey = option.attributeName();
        if (this.getOptionValue(optionKey) === void 0 || ["default", "config", "env"].includes(
          this.getOptionValueSource(optionKey)
        )) {
          if (option.required || option.optional) {
            this.emit(`optionEnv:${option.name()}`, process2.env[option.envVar]);
          } else {
            this.emit(`optionEnv:${option.name()}`);
          }
        }
      }
    });
  }
  /**
   * Apply any implied option values, if option is undefined or default value.
   *
   * @private
   */
  _parseOptionsImplied() {
    const dualHelper = new DualOptions(this.options);
    const hasCustomOptionValue = (optionKey) => {
      return this.getOptionValue(optionKey) !== void 0 && !["default", "implied"].includes(this.getOptionValueSource(optionKey));
    };
    this.options.filter(
      (option) => option.implied !== void 0 && hasCustomOptionValue(option.attributeName()) && dualHelper.valueFromOption(
        this.getOptionValue(option.attributeName()),
        option
      )
    ).forEach((option) => {
      Object.keys(option.implied).filter((impliedKey) => !hasCustomOptionValue(impliedKey)).forEach((impliedKey) => {
        this.setOptionValueWithSource(
          impliedKey,
          option.implied[impliedKey],
          "implied"
        );
      });
    });
  }
  /**
   * Argument `name` is missing.
   *
   * @param {string} name
   * @private
   */
  missingArgument(name) {
    const message = `error: missing required argument '${name}'`;
    this.error(message, { code: "commander.missingArgument" });
  }
  /**
   * `Option` is missing an argument.
   *
   * @param {Option} option
   * @private
   */
  optionMissingArgument(option) {
    const message = `error: option '${option.flags}' argument missing`;
    this.error(message, { code: "commander.optionMissingArgument" });
  }
  /**
   * `Option` does not have a value, and is a mandatory option.
   *
   * @param {Option} option
   * @private
   */
  missingMandatoryOptionValue(option) {
    const message = `error: required option '${option.flags}' not specified`;
    this.error(message, { code: "commander.missingMandatoryOptionValue" });
  }
  /**
   * `Option` conflicts with another option.
   *
   * @param {Option} option
   * @param {Option} conflictingOption
   * @private
   */
  _conflictingOption(option, conflictingOption) {
    const findBestOptionFromValue = (option2) => {
      const optionKey = option2.attributeName();
      const optionValue = this.getOptionValue(optionKey);
      const negativeOption = this.options.find(
        (target) => target.negate && optionKey === target.attributeName()
      );
      const positiveOption = this.options.find(
        (target) => !target.negate && optionKey === target.attributeName()
      );
      if (negativeOption && (negativeOption.presetArg === void 0 && optionValue === false || negativeOption.presetArg !== void 0 && optionValue === negativeOption.presetArg)) {
        return negativeOption;
      }
      return positiveOption || option2;
    };
    const getErrorMessage = (option2) => {
      const bestOption = findBestOptionFromValue(option2);
      const optionKey = bestOption.attributeName();
      const source = this.getOptionValueSource(optionKey);
      if (source === "env") {
        return `environment variable '${bestOption.envVar}'`;
      }
      return `option '${bestOption.flags}'`;
    };
    const message = `error: ${getErrorMessage(option)} cannot be used with ${getErrorMessage(conflictingOption)}`;
    this.error(message, { code: "commander.conflictingOption" });
  }
  /**
   * Unknown option `flag`.
   *
   * @param {string} flag
   * @private
   */
  unknownOption(flag) {
    if (this._allowUnknownOption) return;
    let suggestion = "";
    if (flag.startsWith("--") && this._showSuggestionAfterError) {
      let candidateFlags = [];
      let command2 = this;
      do {
        const moreFlags = command2.createHelp().visibleOptions(command2).filter((option) => option.long).map((option) => option.long);
        candidateFlags = candidateFlags.concat(moreFlags);
        command2 = command2.parent;
      } while (command2 && !command2._enablePositionalOptions);
      suggestion = suggestSimilar(flag, candidateFlags);
    }
    const message = `error: unknown option '${flag}'${suggestion}`;
    this.error(message, { code: "commander.unknownOption" });
  }
  /**
   * Excess arguments, more than expected.
   *
   * @param {string[]} receivedArgs
   * @private
   */
  _excessArguments(receivedArgs) {
    if (this._allowExcessArguments) return;
    const expected = this.registeredArguments.length;
    const s = expected === 1 ? "" : "s";
    const received = receivedArgs.length;
    const forSubcommand = this.parent ? ` for '${this.name()}'` : "";
    const details = receivedArgs.join(", ");
    const message = `error: too many arguments${forSubcommand}. Expected ${expected} argument${s} but got ${received}: ${details}.`;
    this.error(message, { code: "commander.excessArguments" });
  }
  /**
   * Unknown command.
   *
   * @private
   */
  unknownCommand() {
    const unknownName = this.args[0];
    let suggestion = "";
    if (this._showSuggestionAfterError) {
      const candidateNames = [];
      this.createHelp().visibleCommands(this).forEach((command2) => {
        candidateNames.push(command2.name());
        if (command2.alias()) candidateNames.push(command2.alias());
      });
      suggestion = suggestSimilar(unknownName, candidateNames);
    }
    const message = `error: unknown command '${unknownName}'${suggestion}`;
    this.error(message, { code: "commander.unknownCommand" });
  }
  /**
   * Get or set the program version.
   *
   * This method auto-registers the "-V, --version" option which will print the version number.
   *
   * You can optionally supply the flags and description to override the defaults.
   *
   * @param {string} [str]
   * @param {string} [flags]
   * @param {string} [description]
   * @return {(this | string | undefined)} `this` command for chaining, or version string if no arguments
   */
  version(str, flags, description) {
    if (str === void 0) return this._version;
    this._version = str;
    flags = flags || "-V, --version";
    description = description || "output the version number";
    const versionOption = this.createOption(flags, description);
    this._versionOptionName = versionOption.attributeName();
    this._registerOption(versionOption);
    this.on("option:" + versionOption.name(), () => {
      this._outputConfiguration.writeOut(`${str}
`);
      this._exit(0, "commander.version", str);
    });
    return this;
  }
  /**
   * Set the description.
   *
   * @param {string} [str]
   * @param {object} [argsDescription]
   * @return {(string|Command)}
   */
  description(str, argsDescription) {
    if (str === void 0 && argsDescription === void 0)
      return this._description;
    this._description = str;
    if (argsDescription) {
      this._argsDescription = argsDescription;
    }
    return this;
  }
  /**
   * Set the summary. Used when listed as subcommand of parent.
   *
   * @param {string} [str]
   * @return {(string|Command)}
   */
  summary(str) {
    if (str === void 0) return this._summary;
    this._summary = str;
    return this;
  }
  /**
   * Set an alias for the command.
   *
   * You may call more than once to add multiple aliases. Only the first alias is shown in the auto-generated help.
   *
   * @param {string} [alias]
   * @return {(string|Command)}
   */
  alias(alias) {
    if (alias === void 0) return this._aliases[0];
    let command2 = this;
    if (this.commands.length !== 0 && this.commands[this.commands.length - 1]._executableHandler) {
      command2 = this.commands[this.commands.length - 1];
    }
    if (alias === command2._name)
      throw new Error("Command alias can't be the same as its name");
    const matchingCommand = this.parent?._findCommand(alias);
    if (matchingCommand) {
      const existingCmd = [matchingCommand.name()].concat(matchingCommand.aliases()).join("|");
      throw new Error(
        `cannot add alias '${alias}' to command '${this.name()}' as already have command '${existingCmd}'`
      );
    }
    command2._aliases.push(alias);
    return this;
  }
  /**
   * Set aliases for the command.
   *
   * Only the first alias is shown in the auto-generated help.
   *
   * @param {string[]} [aliases]
   * @return {(string[]|Command)}
   */
  aliases(aliases) {
    if (aliases === void 0) return this._aliases;
    aliases.forEach((alias) => this.alias(alias));
    return this;
  }
  /**
   * Set / get the command usage `str`.
   *
   * @param {string} [str]
   * @return {(string|Command)}
   */
  usage(str) {
    if (str === void 0) {
      if (this._usage) return this._usage;
      const args = this.registeredArguments.map((arg) => {
        return humanReadableArgName(arg);
      });
      return [].concat(
        this.options.length || this._helpOption !== null ? "[options]" : [],
        this.commands.length ? "[command]" : [],
        this.registeredArguments.length ? args : []
      ).join(" ");
    }
    this._usage = str;
    return this;
  }
  /**
   * Get or set the name of the command.
   *
   * @param {string} [str]
   * @return {(string|Command)}
   */
  name(str) {
    if (str === void 0) return this._name;
    this._name = str;
    return this;
  }
  /**
   * Set/get the help group heading for this subcommand in parent command's help.
   *
   * @param {string} [heading]
   * @return {Command | string}
   */
  helpGroup(heading) {
    if (heading === void 0) return this._helpGroupHeading ?? "";
    this._helpGroupHeading = heading;
    return this;
  }
  /**
   * Set/get the default help group heading for subcommands added to this command.
   * (This does not override a group set directly on the subcommand using .helpGroup().)
   *
   * @example
   * program.commandsGroup('Development Commands:');
   * program.command('watch')...
   * program.command('lint')...
   * ...
   *
   * @param {string} [heading]
   * @returns {Command | string}
   */
  commandsGroup(heading) {
    if (heading === void 0) return this._defaultCommandGroup ?? "";
    this._defaultCommandGroup = heading;
    return this;
  }
  /**
   * Set/get the default help group heading for options added to this command.
   * (This does not override a group set directly on the option using .helpGroup().)
   *
   * @example
   * program
   *   .optionsGroup('Development Options:')
   *   .option('-d, --debug', 'output extra debugging')
   *   .option('-p, --profile', 'output profiling information')
   *
   * @param {string} [heading]
   * @returns {Command | string}
   */
  optionsGroup(heading) {
    if (heading === void 0) return this._defaultOptionGroup ?? "";
    this._defaultOptionGroup = heading;
    return this;
  }
  /**
   * @param {Option} option
   * @private
   */
  _initOptionGroup(option) {
    if (this._defaultOptionGroup && !option.helpGroupHeading)
      option.helpGroup(this._defaultOptionGroup);
  }
  /**
   * @param {Command} cmd
   * @private
   */
  _initCommandGroup(cmd) {
    if (this._defaultCommandGroup && !cmd.helpGroup())
      cmd.helpGroup(this._defaultCommandGroup);
  }
  /**
   * Set the name of the command from script filename, such as process.argv[1],
   * or import.meta.filename.
   *
   * (Used internally and public although not documented in README.)
   *
   * @example
   * program.nameFromFilename(import.meta.filename);
   *
   * @param {string} filename
   * @return {Command}
   */
  nameFromFilename(filename) {
    this._name = path.basename(filename, path.extname(filename));
    return this;
  }
  /**
   * Get or set the directory for searching for executable subcommands of this command.
   *
   * @example
   * program.executableDir(import.meta.dirname);
   * // or
   * program.executableDir('subcommands');
   *
   * @param {string} [path]
   * @return {(string|null|Command)}
   */
  executableDir(path2) {
    if (path2 === void 0) return this._executableDir;
    this._executableDir = path2;
    return this;
  }
  /**
   * Return program help documentation.
   *
   * @param {{ error: boolean }} [contextOptions] - pass {error:true} to wrap for stderr instead of stdout
   * @return {string}
   */
  helpInformation(contextOptions) {
    const helper = this.createHelp();
    const context = this._getOutputContext(contextOptions);
    helper.prepareContext({
      error: context.error,
      helpWidth: context.helpWidth,
      outputHasColors: context.hasColors
    });
    const text2 = helper.formatHelp(this, helper);
    if (context.hasColors) return text2;
    return this._outputConfiguration.stripColor(text2);
  }
  /**
   * @typedef HelpContext
   * @type {object}
   * @property {boolean} error
   * @property {number} helpWidth
   * @property {boolean} hasColors
   * @property {function} write - includes stripColor if needed
   *
   * @returns {HelpContext}
   * @private
   */
  _getOutputContext(contextOptions) {
    contextOptions = contextOptions || {};
    const error = !!contextOptions.error;
    let baseWrite;
    let hasColors;
    let helpWidth;
    if (error) {
      baseWrite = (str) => this._outputConfiguration.writeErr(str);
      hasColors = this._outputConfiguration.getErrHasColors();
      helpWidth = this._outputConfiguration.getErrHelpWidth();
    } else {
      baseWrite = (str) => this._outputConfiguration.writeOut(str);
      hasColors = this._outputConfiguration.getOutHasColors();
      helpWidth = this._outputConfiguration.getOutHelpWidth();
    }
    const write = (str) => {
      if (!hasColors) str = this._outputConfiguration.stripColor(str);
      return baseWrite(str);
    };
    return { error, write, hasColors, helpWidth };
  }
  /**
   * Output help information for this command.
   *
   * Outputs built-in help, and custom text added using `.addHelpText()`.
   *
   * @param {{ error: boolean } | Function} [contextOptions] - pass {error:true} to write to stderr instead of stdout
   */
  outputHelp(contextOptions) {
    let deprecatedCallback;
    if (typeof contextOptions === "function") {
      deprecatedCallback = contextOptions;
      contextOptions = void 0;
    }
    const outputContext = this._getOutputContext(contextOptions);
    const eventContext = {
      error: outputContext.error,
      write: outputContext.write,
      command: this
    };
    this._getCommandAndAncestors().reverse().forEach((command2) => command2.emit("beforeAllHelp", eventContext));
    this.emit("beforeHelp", eventContext);
    let helpInformation = this.helpInformation({ error: outputContext.error });
    if (deprecatedCallback) {
      helpInformation = deprecatedCallback(helpInformation);
      if (typeof helpInformation !== "string" && !Buffer.isBuffer(helpInformation)) {
        throw new Error("outputHelp callback must return a string or a Buffer");
      }
    }
    outputContext.write(helpInformation);
    if (this._getHelpOption()?.long) {
      this.emit(this._getHelpOption().long);
    }
    this.emit("afterHelp", eventContext);
    this._getCommandAndAncestors().forEach(
      (command2) => command2.emit("afterAllHelp", eventContext)
    );
  }
  /**
   * You can pass in flags and a description to customise the built-in help option.
   * Pass in false to disable the built-in help option.
   *
   * @example
   * program.helpOption('-?, --help', 'show help'); // customise
   * program.helpOption(false); // disable
   *
   * @param {(string | boolean)} flags
   * @param {string} [description]
   * @return {Command} `this` command for chaining
   */
  helpOption(flags, description) {
    if (typeof flags === "boolean") {
      if (flags) {
        if (this._helpOption === null) this._helpOption = void 0;
        if (this._defaultOptionGroup) {
          this._initOptionGroup(this._getHelpOption());
        }
      } else {
        this._helpOption = null;
      }
      return this;
    }
    this._helpOption = this.createOption(
      flags ?? "-h, --help",
      description ?? "display help for command"
    );
    if (flags || description) this._initOptionGroup(this._helpOption);
    return this;
  }
  /**
   * Lazy create help option.
   * Returns null if has been disabled with .helpOption(false).
   *
   * @returns {(Option | null)} the help option
   * @package
   */
  _getHelpOption() {
    if (this._helpOption === void 0) {
      this.helpOption(void 0, void 0);
    }
    return this._helpOption;
  }
  /**
   * Supply your own option to use for the built-in help option.
   * This is an alternative to using helpOption() to customise the flags and description etc.
   *
   * @param {Option} option
   * @return {Command} `this` command for chaining
   */
  addHelpOption(option) {
    this._helpOption = option;
    this._initOptionGroup(option);
    return this;
  }
  /**
   * Output help information and exit.
   *
   * Outputs built-in help, and custom text added using `.addHelpText()`.
   *
   * @param {{ error: boolean }} [contextOptions] - pass {error:true} to write to stderr instead of stdout
   */
  help(contextOptions) {
    this.outputHelp(contextOptions);
    let exitCode = Number(process2.exitCode ?? 0);
    if (exitCode === 0 && contextOptions && typeof contextOptions !== "function" && contextOptions.error) {
      exitCode = 1;
    }
    this._exit(exitCode, "commander.help", "(outputHelp)");
  }
  /**
   * // Do a little typing to coordinate emit and listener for the help text events.
   * @typedef HelpTextEventContext
   * @type {object}
   * @property {boolean} error
   * @property {Command} command
   * @property {function} write
   */
  /**
   * Add additional text to be displayed with the built-in help.
   *
   * Position is 'before' or 'after' to affect just this command,
   * and 'beforeAll' or 'afterAll' to affect this command and all its subcommands.
   *
   * @param {string} position - before or after built-in help
   * @param {(string | Function)} text - string to add, or a function returning a string
   * @return {Command} `this` command for chaining
   */
  addHelpText(position, text2) {
    const allowedValues = ["beforeAll", "before", "after", "afterAll"];
    if (!allowedValues.includes(position)) {
      throw new Error(`Unexpected value for position to addHelpText.
Expecting one of '${allowedValues.join("', '")}'`);
    }
    const helpEvent = `${position}Help`;
    this.on(helpEvent, (context) => {
      let helpStr;
      if (typeof text2 === "function") {
        helpStr = text2({ error: context.error, command: context.command });
      } else {
        helpStr = text2;
      }
      if (helpStr) {
        context.write(`${helpStr}
`);
      }
    });
    return this;
  }
  /**
   * Output help information if help flags specified
   *
   * @param {Array} args - array of options to search for help flags
   * @private
   */
  _outputHelpIfRequested(args) {
    const helpOption = this._getHelpOption();
    const helpRequested = helpOption && args.find((arg) => helpOption.is(arg));
    if (helpRequested) {
      this.outputHelp();
      this._exit(0, "commander.helpDisplayed", "(outputHelp)");
    }
  }
};
function incrementNodeInspectorPort(args) {
  return args.map((arg) => {
    if (!arg.startsWith("--inspect")) {
      return arg;
    }
    let debugOption;
    let debugHost = "127.0.0.1";
    let debugPort = "9229";
    let match;
    if ((match = arg.match(/^(--inspect(-brk|-wait)?)$/)) !== null) {
      debugOption = match[1];
    } else if ((match = arg.match(
      /^(--inspect(-brk|-port|-wait)?)=(\[[^\]]+\]|[^:]+)$/
    )) !== null) {
      debugOption = match[1];
      if (/^\d+$/.test(match[3])) {
        debugPort = match[3];
      } else {
        debugHost = match[3];
      }
    } else if ((match = arg.match(
      /^(--inspect(-brk|-port|-wait)?)=(\[[^\]]+\]|[^:]+):(\d+)$/
    )) !== null) {
      debugOption = match[1];
      debugHost = match[3];
      debugPort = match[4];
    }
    if (debugOption && debugPort !== "0") {
      return `${debugOption}=${debugHost}:${parseInt(debugPort) + 1}`;
    }
    return arg;
  });
}
function useColor() {
  if (process2.env.NO_COLOR || process2.env.FORCE_COLOR === "0" || process2.env.FORCE_COLOR === "false")
    return false;
  if (process2.env.FORCE_COLOR || process2.env.CLICOLOR_FORCE !== void 0)
    return true;
  return void 0;
}

// node_modules/commander/index.js
var program = new Command();

// lambda/events/webhook-path.ts
var WEBHOOK_PATH = "/api/v1/webhooks/partner";

// tools/check-sender/answer-steps.ts
var REDIRECT_PATH = `${WEBHOOK_PATH}/redirected`;
var TIMED_STEPS = {
  slow: (delayMilliseconds) => ({ delayMilliseconds }),
  // A REST API sends this header with its own 500, in whole seconds (RFC 9110, section 10.2.3).
  "retry-after": (milliseconds) => ({
    status: 500,
    headers: { "retry-after": String(Math.ceil(milliseconds / 1e3)) }
  })
};
var STEPS = {
  ...Object.fromEntries([401, 429, 500, 502, 503, 504].map((status) => [status, { status }])),
  ok: {},
  // Every client that follows redirects of a POST follows a 302.
  redirect: { status: 302, headers: { location: REDIRECT_PATH } },
  cut: { cut: "before" },
  "cut-late": { cut: "within" },
  slow: TIMED_STEPS.slow?.(35e3),
  "retry-after": TIMED_STEPS["retry-after"]?.(2e4)
};
function parseSteps(text2) {
  return text2.split(",").map((word) => {
    const step = Object.hasOwn(STEPS, word) ? STEPS[word] : timedStep(word);
    if (step !== void 0) return step;
    throw new InvalidArgumentError(
      `Each step is one of ${Object.keys(STEPS).join(", ")}. Some take a time: slow=35s, retry-after=20s. Join steps with commas.`
    );
  });
}
function timedStep(word) {
  const [, name = "", amount, unit] = /^(slow|retry-after)=(\d{1,4}(?:\.\d{1,3})?)(ms|s)$/.exec(word) ?? [];
  return TIMED_STEPS[name]?.(Number(amount) * (unit === "s" ? 1e3 : 1));
}

// tools/check-sender/checker.ts
import { once as once2 } from "node:events";
import { setTimeout as sleep2 } from "node:timers/promises";

// local-aws/listen.ts
import { createServer } from "node:http";
var MAX_PORT_ATTEMPTS = 5;
async function listen(serverOptions, onRequest, { port: port2, host }) {
  for (let attempt = 1; ; attempt += 1) {
    const first = await listenOn(createServer(serverOptions, onRequest), port2, host ?? "127.0.0.1");
    const actualPort = first.address().port;
    if (host !== void 0) return { servers: [first], port: actualPort };
    try {
      const second = await listenOn(createServer(serverOptions, onRequest), actualPort, "::1");
      return { servers: [first, second], port: actualPort };
    } catch (error) {
      if (isCode(error, "EADDRNOTAVAIL", "EAFNOSUPPORT")) return { servers: [first], port: actualPort };
      await new Promise((resolve) => first.close(resolve));
      if (port2 !== 0 || attempt === MAX_PORT_ATTEMPTS || !isCode(error, "EADDRINUSE")) throw error;
    }
  }
}
function listenOn(server, port2, host) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: port2, host }, () => {
      server.off("error", reject);
      resolve(server);
    });
  });
}
function isCode(error, ...codes) {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

// lambda/limits.ts
var DAY = 24 * 60 * 60;
var SECRET_MAX_AGE = 5 * 6e4;
var CLOCK_TOLERANCE = 5 * 6e4;
var MEMORY_DAYS = 90;
var MEMORY_SECONDS = MEMORY_DAYS * DAY;
var EVENT_RETENTION_SECONDS = 7 * DAY;
var DEAD_LETTER_RETENTION_SECONDS = 14 * DAY;
var EVENT_RETENTION_DAYS = EVENT_RETENTION_SECONDS / DAY;
var DEAD_LETTER_RETENTION_DAYS = DEAD_LETTER_RETENTION_SECONDS / DAY;
var LAST_DAY_ON_QUEUES = EVENT_RETENTION_DAYS + DEAD_LETTER_RETENTION_DAYS;
var REPLAYABLE_RECEIPT_DAYS = MEMORY_DAYS - EVENT_RETENTION_DAYS;
var MAX_RETRY_SECONDS = 60 * 60;
var MAX_QUOTA_WINDOW_SECONDS = 11 * 60 * 60;
var MAX_RECORD_BYTES = 1e3 * 1024;
var RECORD_RESERVE_BYTES = 32 * 1024;
var MAX_PROBLEMS = 20;
var MAX_TEXT_BYTES = 64 * 1024;
var MAX_DATA_BYTES = 256 * 1024;
var MAX_INSPECTION_SECONDS = 15 * 60;
var GATEWAY_TIMEOUT_SECONDS = 29;
var EVENT_MEGABYTES = 6;
var ENCODED_BODY_MEGABYTES = EVENT_MEGABYTES * 3 / 4;
var REQUEST_TIMEOUT = 2e3;
var CALL_ATTEMPTS = 2;
var MAX_CALL_MILLISECONDS = CALL_ATTEMPTS * REQUEST_TIMEOUT + 1e3;
var MIN_RECEIVER_SECONDS = 4 * MAX_CALL_MILLISECONDS / 1e3;
var OUT_OF_TIME_MARGIN = 3 * MAX_CALL_MILLISECONDS;
var MIN_CONSUMER_SECONDS = (OUT_OF_TIME_MARGIN + MAX_CALL_MILLISECONDS) / 1e3;

// local-aws/client-settings.ts
var REGION = "us-east-1";

// local-aws/aws/services.ts
var ACCOUNT_ID = "000000000000";

// local-aws/gateway/gateway-events.ts
var receivingApi = (apiId) => ({
  accountId: ACCOUNT_ID,
  apiId,
  domainName: `${apiId}.execute-api.${REGION}.amazonaws.com`
});
function httpApiEvent(request, { accountId, apiId, domainName }, cookies = []) {
  const { method, path: path2, query = "", body, isBase64Encoded, receivedAt, requestId } = request;
  const headers = joined(request.headers);
  const routeKey = `${method} ${path2}`;
  return {
    version: "2.0",
    routeKey,
    rawPath: path2,
    rawQueryString: query,
    ...cookies.length > 0 && { cookies },
    headers,
    ...query !== "" && { queryStringParameters: joined(new URLSearchParams(query)) },
    requestContext: {
      accountId,
      apiId,
      domainName,
      domainPrefix: prefixOf(domainName),
      http: {
        method,
        path: path2,
        protocol: protocolOf(request),
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? ""
      },
      requestId,
      routeKey,
      stage: "$default",
      time: commonLogTime(receivedAt),
      timeEpoch: receivedAt.getTime()
    },
    ...body !== void 0 && { body },
    isBase64Encoded
  };
}
function grouped(pairs2) {
  const values = /* @__PURE__ */ new Map();
  for (const [name, value] of pairs2) values.set(name, [...values.get(name) ?? [], value]);
  return Object.fromEntries(values);
}
function joined(pairs2) {
  return Object.fromEntries(Object.entries(grouped(pairs2)).map(([name, values]) => [name, values.join(",")]));
}
var prefixOf = (domainName) => domainName.split(".", 1)[0] ?? "";
var protocolOf = ({ httpVersion = "1.1" }) => `HTTP/${httpVersion}`;
function commonLogTime(time) {
  const [, day, month, year, clock] = time.toUTCString().split(" ");
  return `${day}/${month}/${year}:${clock} +0000`;
}

// local-aws/gateway/http-api.ts
import { Buffer as Buffer4 } from "node:buffer";

// local-aws/gateway/http-message.ts
import { randomBytes } from "node:crypto";
import { validateHeaderName, validateHeaderValue } from "node:http";
function requestOf(message, port2) {
  return {
    method: message.method ?? "",
    ...splitTarget(message.url ?? ""),
    httpVersion: message.httpVersion,
    headers: pairs(message.rawHeaders),
    sourceIp: message.socket.remoteAddress ?? "",
    port: message.socket.localPort ?? port2,
    receivedAt: /* @__PURE__ */ new Date()
  };
}
function splitTarget(target) {
  const originForm = target.replace(/^https?:\/\/[^/?]*/i, "");
  const mark = originForm.indexOf("?");
  if (mark === -1) return { path: originForm || "/", query: "" };
  return { path: originForm.slice(0, mark) || "/", query: originForm.slice(mark + 1) };
}
function pairs(rawHeaders) {
  return rawHeaders.flatMap(
    (name, index) => index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : []
  );
}
function valuesOf(headers, name) {
  return headers.filter(([key]) => key.toLowerCase() === name).map(([, value]) => value);
}
function without(headers, names) {
  return headers.filter(([name]) => !names.has(name.toLowerCase()));
}
function isHeader(name, value) {
  if (!["string", "number", "boolean"].includes(typeof value)) return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}
function isStatus(value) {
  return typeof value === "number" && Number.isInteger(value) && value >= 200 && value <= 599;
}
function traceId(time) {
  const seconds2 = Math.floor(time.getTime() / 1e3).toString(16);
  return `Root=1-${seconds2}-${randomBytes(12).toString("hex")}`;
}
function shortId() {
  return randomBytes(11).toString("base64");
}
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// local-aws/gateway/integration.ts
import { Buffer as Buffer2 } from "node:buffer";

// local-aws/functions/invocation.ts
var EVENT_LIMIT_BYTES = 6 * 1024 * 1024;
var TooManyRequestsError = class extends Error {
  name = "TooManyRequestsException";
  constructor() {
    super("Rate Exceeded.");
  }
};

// local-aws/gateway/integration.ts
async function integrate(invoke, event7, limitMilliseconds) {
  if (Buffer2.byteLength(JSON.stringify(event7)) > EVENT_LIMIT_BYTES) return "event too large";
  let timer;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(() => resolve("timed out"), limitMilliseconds);
  });
  try {
    return await Promise.race([invoke(event7), timeout]);
  } catch (error) {
    return error instanceof TooManyRequestsError ? "throttled" : "rejected";
  } finally {
    clearTimeout(timer);
  }
}

// local-aws/gateway/payload-format-2.ts
import { Buffer as Buffer3 } from "node:buffer";
var CONNECTION_HEADERS = /* @__PURE__ */ new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]);
var OWN_HEADERS = /* @__PURE__ */ new Set([
  ...CONNECTION_HEADERS,
  "cookie",
  "x-amzn-trace-id",
  "x-forwarded-for",
  "x-forwarded-port",
  "x-forwarded-proto"
]);
function toEvent(request, body, api) {
  const isBase64Encoded = body.length > 0 && isBinary(valuesOf(request.headers, "content-type").join(","));
  const cookies = valuesOf(request.headers, "cookie").flatMap((value) => value.split(";")).map((cookie) => cookie.trim()).filter((cookie) => cookie !== "");
  return httpApiEvent(
    {
      ...request,
      headers: eventHeaders(request, body, api),
      requestId: api.requestId,
      ...body.length > 0 && { body: body.toString(isBase64Encoded ? "base64" : "utf8") },
      isBase64Encoded
    },
    api,
    cookies
  );
}
function eventHeaders({ headers, sourceIp, port: port2 }, body, api) {
  const length = ["content-length", String(body.length)];
  return [
    ...without(headers, OWN_HEADERS).map(([name, value]) => [name.toLowerCase(), value]).filter(([name]) => body.length === 0 || name !== "content-length"),
    ...body.length > 0 ? [length] : [],
    ["x-amzn-trace-id", api.traceId],
    ["x-forwarded-for", [...valuesOf(headers, "x-forwarded-for"), sourceIp].join(",")],
    ["x-forwarded-port", String(port2)],
    ["x-forwarded-proto", "http"]
  ];
}
function toResponse(result) {
  if (!result.ok) return void 0;
  const { payload } = result;
  if (isObject(payload) && payload.statusCode !== void 0) return structuredResponse(payload);
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: Buffer3.from(JSON.stringify(payload))
  };
}
function structuredResponse(payload) {
  const { statusCode, headers, cookies = [], body = "", isBase64Encoded = false } = payload;
  if (!isStatus(statusCode)) return void 0;
  if (typeof isBase64Encoded !== "boolean" || body !== null && typeof body !== "string") return void 0;
  const responseHeaders = readResponseHeaders(headers ?? {});
  if (responseHeaders === void 0 || !isCookieList(cookies)) return void 0;
  return {
    status: statusCode,
    headers: {
      "content-type": "text/plain;charset=UTF-8",
      ...responseHeaders,
      ...cookies.length > 0 && { "set-cookie": cookies }
    },
    body: Buffer3.from(body ?? "", isBase64Encoded ? "base64" : "utf8")
  };
}
function readResponseHeaders(headers) {
  if (!isObject(headers)) return void 0;
  const result = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeader(name, value)) return void 0;
    const key = name.toLowerCase();
    if (!CONNECTION_HEADERS.has(key) && key !== "content-length") result[key] = String(value);
  }
  return result;
}
function isCookieList(cookies) {
  return Array.isArray(cookies) && cookies.every((cookie) => typeof cookie === "string" && isHeader("set-cookie", cookie));
}
function isBinary(contentType) {
  const mediaType = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return !/^(text\/.+|application\/(json|javascript|xml|.+\+(json|xml)))$/.test(mediaType);
}

// local-aws/gateway/throttle.ts
var Throttle = class {
  #settings;
  #now;
  #tokens;
  #filledAt;
  /** @param now a clock, in milliseconds */
  constructor(settings, now = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#tokens = settings.burst;
    this.#filledAt = now();
  }
  admit() {
    const { rate, burst } = this.#settings;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + (now - this.#filledAt) / 1e3 * rate);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
};

// local-aws/gateway/http-api.ts
var INTEGRATION_LIMIT_MILLISECONDS = 3e4;
var FAILURES = {
  "event too large": errorResponse(413, "Request Too Large"),
  throttled: errorResponse(503, "Service Unavailable"),
  rejected: errorResponse(500, "Internal Server Error"),
  "timed out": errorResponse(503, "Service Unavailable")
};
function httpApi(options) {
  const routes = new Map(options.routes.map((route) => [checkedRouteKey(route.routeKey), route]));
  const throttle = options.throttle && new Throttle(options.throttle);
  const limit = options.integrationLimitMilliseconds ?? INTEGRATION_LIMIT_MILLISECONDS;
  const api = receivingApi(options.apiId);
  async function respond(request, route, readBody, requestId) {
    if (route === void 0) return errorResponse(404, "Not Found");
    if (throttle?.admit() === false) return errorResponse(429, "Too Many Requests");
    const body = await readBody();
    if (body === void 0) return errorResponse(413, "Request Entity Too Large");
    const event7 = toEvent(request, body, {
      ...api,
      requestId,
      traceId: traceId(request.receivedAt)
    });
    const result = await integrate((given) => route.invoke(given), event7, limit);
    if (typeof result === "string") return FAILURES[result];
    return toResponse(result) ?? errorResponse(500, "Internal Server Error");
  }
  return {
    async answer(request, readBody) {
      const requestId = shortId();
      const route = routes.get(`${request.method} ${request.path}`);
      const response = await respond(request, route, readBody, requestId);
      return {
        requestId,
        context: { requestId, ...route && { routeKey: route.routeKey } },
        response: { ...response, headers: { ...response.headers, "apigw-requestid": requestId } }
      };
    }
  };
}
function errorResponse(status, message) {
  return {
    status,
    headers: { "content-type": "application/json" },
    body: Buffer4.from(JSON.stringify({ message }))
  };
}
function checkedRouteKey(routeKey) {
  if (!/^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \/[^{}?#\s]*$/.test(routeKey)) {
    throw new Error(
      `The route key '${routeKey}' is not supported: it must be a method and an exact path, such as 'POST /orders'`
    );
  }
  return routeKey;
}

// local-aws/gateway/server.ts
import { Buffer as Buffer5 } from "node:buffer";
var BODY_LIMIT_BYTES = 10 * 1024 * 1024;
var FOREIGN = Buffer5.from(
  "The webhook only answers its own machine. To allow a tunnel, start it with: npx hookctl start --public-host <name>\n"
);

// lambda/hash.ts
import { createHash } from "node:crypto";
function sha256Hex(content) {
  return createHash("sha256").update(content).digest("hex");
}

// lambda/log-messages.ts
var ACCEPTED = "Accepted";
var PARKED = "Parked";
var UNUSABLE = "Unusable";
var REJECTED = "Rejected";

// lambda/receiver/signature.ts
import { createHmac, timingSafeEqual } from "node:crypto";
var SIGNATURE_BYTES = 32;
var PREFIX = "sha256=";
var HEX = /^[0-9A-Fa-f]{64}$/;
var BASE64 = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/;
function decodeSignature(header) {
  if (header === void 0) return void 0;
  const value = header.startsWith(PREFIX) ? header.slice(PREFIX.length) : header;
  if (HEX.test(value)) return Buffer.from(value, "hex");
  if (BASE64.test(value)) return Buffer.from(value, "base64");
  return void 0;
}
function sign(body, secret) {
  return createHmac("sha256", secret).update(body).digest();
}
function verify(body, signature, secrets) {
  if (signature.length !== SIGNATURE_BYTES) return false;
  return secrets.some((secret) => timingSafeEqual(sign(body, secret), signature));
}

// tools/check-sender/encodings.ts
import { isUtf8 } from "node:buffer";
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
var swapped = (bytes2) => Buffer.from(bytes2.subarray(0, bytes2.length & ~1)).swap16();
function utf16Of(text2) {
  const littleEndian = Buffer.from(text2, "utf16le");
  return [littleEndian, swapped(littleEndian)];
}
var textsInUtf16 = (bytes2) => [bytes2, swapped(bytes2)].map((read) => read.toString("utf16le"));
function cesu8(text2) {
  return Buffer.concat(
    text2.split(/([\uD800-\uDFFF])/).map((part) => {
      const unit = part.charCodeAt(0);
      if (part.length !== 1 || unit < 55296 || unit > 57343) return Buffer.from(part);
      return Buffer.from([224 | unit >> 12, 128 | unit >> 6 & 63, 128 | unit & 63]);
    })
  );
}
var LIMITS = { maxOutputLength: BODY_LIMIT_BYTES };
var DECOMPRESS = {
  gzip: (body) => gunzipSync(body, LIMITS),
  // Some senders leave out the zlib header (RFC 9110 §8.4.1.2).
  deflate: (body) => attempted(() => inflateSync(body, LIMITS)) ?? inflateRawSync(body, LIMITS),
  br: (body) => brotliDecompressSync(body, LIMITS)
};
function attempted(work) {
  try {
    return work();
  } catch {
    return void 0;
  }
}
function compressionOf(body, headers) {
  const coding = valuesOf(headers, "content-encoding").join(",").trim().toLowerCase();
  const isGzip = body[0] === 31 && body[1] === 139;
  const name = Object.hasOwn(DECOMPRESS, coding) ? coding : isGzip ? "gzip" : "deflate";
  const plain2 = attempted(() => DECOMPRESS[name]?.(body));
  const isGuess = name !== coding && !isGzip;
  if (isGuess && (isUtf8(body) || !/^\s*\{/.test(plain2?.toString() ?? ""))) return void 0;
  return { name, plain: plain2 };
}

// tools/check-sender/findings.json
var findings_default = {
  remedies: {
    sendUtc: "Send the time of the change in UTC, such as 2026-01-31T09:00:00Z. Include fractions of a second if you have them.",
    sendBytes: "Send only the 32 bytes, as 64 hex digits or base64. The prefix sha256= is allowed.",
    useSecret: "Use the UTF-8 bytes of the secret. Do not decode it.",
    encodeOnce: "Encode the text as UTF-8 once. Sign these bytes, and send these bytes.",
    sendType: "Send Content-Type: application/json once.",
    sendJsonAlone: "Send the JSON itself as the body, with Content-Type: application/json.",
    useLibrary: "Create the JSON with a library, and send its output.",
    serialiseOnce: "Serialise the body once. Sign exactly these bytes, and send exactly these bytes.",
    useHmac: "Use HMAC with SHA-256: the secret is the key, the body is the message.",
    waitLonger: "Wait {firstWait} s before the first repeat, and twice as long before each next one.",
    neverSend: "Never send the secret: it is the key of the HMAC. Others may know it now, so agree on a new one.",
    passJson: "Pass the JSON to the HTTP client as the body, not as a value to serialise. In Python requests: data=text, not json=text."
  },
  findings: {
    method: {
      what: "The method is {method}. It must be POST.",
      remedy: "Send {post}."
    },
    "method/redirected": {
      what: "The method is {method}. It must be POST.",
      remedy: "Send to the final address. A client that follows a redirect turns a POST into a GET without a body."
    },
    "method/unknown": {
      what: "The method is unknown. It must be POST, in capital letters.",
      remedy: "Send POST, not post: the names of methods are case-sensitive. curl -X sends the name as it is."
    },
    "method/connect": {
      what: "The method is CONNECT. The sender uses this checker as a proxy.",
      remedy: "Check the proxy settings of the sender."
    },
    path: {
      what: "{words}.",
      remedy: "Send exactly {post}."
    },
    query: {
      grade: "fine",
      what: "The query string is ignored."
    },
    "redirect-followed": {
      what: "The sender followed the simulated redirect. The service never redirects.",
      remedy: "Turn off redirects in the HTTP client. Otherwise another host may get the event, or the service gets a GET without it. Treat 3xx as a failure, and repeat."
    },
    "content-type-missing": {
      grade: "risky",
      what: "Content-Type is missing.",
      remedy: "{sendType}"
    },
    "content-type-twice": {
      grade: "risky",
      what: "Content-Type was sent twice.",
      remedy: "{sendType}"
    },
    "content-type-form": {
      what: "Content-Type says that the body is a form.",
      remedy: "{sendType} curl -d sets this type by default."
    },
    "content-type-form/accepted": {
      grade: "risky",
      what: "Content-Type says that the body is a form, but it is JSON. This works up to about {encodedMegabytes} MB.",
      remedy: "{sendType} curl -d sets this type by default."
    },
    "content-type-multipart": {
      what: "Content-Type says that the body is a multipart form.",
      remedy: "{sendType}"
    },
    "content-type-other": {
      grade: "risky",
      what: "Content-Type is not application/json. This works up to about {encodedMegabytes} MB.",
      remedy: "{sendType}"
    },
    "content-type-charset": {
      grade: "risky",
      what: "Content-Type names a charset other than UTF-8. It has no effect: the bytes are read as UTF-8.",
      remedy: "{sendType}"
    },
    "content-encoding": {
      what: "Content-Encoding says that the body is compressed. The service does not decompress.",
      remedy: "Send the body uncompressed, without this header."
    },
    "content-encoding-other": {
      grade: "risky",
      what: "Content-Encoding names no compression, perhaps a charset such as utf-8. It has no effect.",
      remedy: "Omit this header. The body is read as UTF-8."
    },
    "secret-sent": {
      what: "The secret itself is in {place}.",
      remedy: "{neverSend}"
    },
    "secret-sent/as-signature": {
      what: "The secret itself was sent instead of a signature.",
      remedy: "{neverSend}"
    },
    "head-too-large": {
      what: "Request line and headers have {size}. API Gateway accepts 10,240 bytes.",
      remedy: "Send fewer or shorter headers. Cookies and tracing add up."
    },
    "http-version": {
      grade: "risky",
      what: "The request used HTTP/{version}, which does not keep the connection open.",
      remedy: "Use HTTP/1.1 or HTTP/2. AWS documents no other version."
    },
    host: {
      grade: "risky",
      what: "Host was sent more than once.",
      remedy: "Send Host once. AWS finds the API by this header."
    },
    chunked: {
      grade: "fine",
      what: "The body was sent in chunks, without Content-Length."
    },
    expect: {
      grade: "fine",
      what: "The sender asked before it sent the body (Expect: 100-continue)."
    },
    "expect-other": {
      grade: "risky",
      what: "Expect has a value other than 100-continue, the only one that HTTP defines.",
      remedy: "Remove it. A server may answer 417."
    },
    "content-length-small": {
      what: "Content-Length is smaller than the body. The service reads only this many bytes.",
      remedy: "Let the HTTP client set Content-Length, or count bytes instead of characters: \xE9 has two."
    },
    "content-length-small/missing": {
      what: "Bytes follow the end of the request. Without Content-Length it has no body.",
      remedy: "Let the HTTP client set Content-Length, or count bytes instead of characters: \xE9 has two."
    },
    "content-length-large": {
      what: "The JSON was complete after {bytes} bytes, but the request was not. Content-Length is larger than the body, or the last chunk is missing.",
      remedy: "Let the HTTP client set Content-Length."
    },
    "never-ended": {
      what: "A request was not complete after {seconds} s. Only {bytes} bytes of its body arrived.",
      remedy: "Check that Content-Length is the number of bytes of the body, and that all of them are sent."
    },
    "never-ended/headers": {
      what: "A request was not complete after {seconds} s. Its headers never ended.",
      remedy: "End the headers with an empty line: CR LF twice."
    },
    tls: {
      what: "The client used TLS. This checker accepts plain HTTP only.",
      remedy: "Use http:// here. The service itself accepts only https://."
    },
    "http-2": {
      what: "The client used HTTP/2 without TLS. This checker accepts HTTP/1.1 only.",
      remedy: "Use HTTP/1.1 here. With the service, a client can choose HTTP/2 over TLS."
    },
    framing: {
      what: "Content-Length or Transfer-Encoding is invalid, was sent twice, or both were sent; or a chunk is invalid.",
      remedy: "Let the HTTP client set these headers."
    },
    "broken-off": {
      what: "The sender disconnected {when}.",
      remedy: "Find out why: the timeout may be too short, or the process may have ended."
    },
    "malformed-head": {
      what: "The request line or a header is not valid HTTP, for example because of a line break in a value.",
      remedy: "Remove line breaks from the signature before you set it. Base64 tools and openssl add some."
    },
    "not-http": {
      what: "The bytes are not an HTTP request.",
      remedy: "Use an HTTP/1.1 client for this port."
    },
    "body-too-large": {
      what: "The body is too large. The service accepts about {megabytes} MB of JSON, or {encodedMegabytes} MB of another content type.",
      remedy: "Send only what identifies the change, not data that can be fetched."
    },
    "body-near-limit": {
      grade: "risky",
      what: "The body has {bytes} bytes. Above about {megabytes} MB it is rejected with 413.",
      remedy: "Send only what identifies the change, not data that can be fetched."
    },
    "body-not-utf-8/gateway": {
      what: "The signature is correct, but the body is not UTF-8. The gateway replaces invalid bytes, so the signature no longer matches.",
      remedy: "Encode the text as UTF-8 before you sign it."
    },
    "compressed/signed": {
      what: "The body is compressed, and the signature covers the compressed bytes.",
      remedy: "Sign the JSON and send it uncompressed. The service does not decompress."
    },
    "body-utf-16": {
      what: "The body is UTF-16.",
      remedy: "Send UTF-8."
    },
    compressed: {
      what: "The body is compressed ({name}).",
      remedy: "Send the body uncompressed. The service does not decompress."
    },
    "body-not-utf-8": {
      what: "The body is not UTF-8.",
      remedy: "Encode the text as UTF-8. A charset in the header has no effect."
    },
    "body-empty": {
      what: "The body is empty.",
      remedy: "Check that the client gets the JSON as the body of the request."
    },
    multipart: {
      what: "The body is a multipart form.",
      remedy: "{sendJsonAlone}"
    },
    "form-encoded": {
      what: "The body is a form: name=value.",
      remedy: "{sendJsonAlone}"
    },
    "body-url-escapes": {
      what: "The body is URL-encoded JSON.",
      remedy: "{sendJsonAlone}"
    },
    "html-escaped": {
      what: "The body is JSON with HTML entities, such as &quot;.",
      remedy: "Do not escape JSON for HTML. Sign exactly the bytes that you send."
    },
    "body-xml": {
      what: "The body is XML or HTML.",
      remedy: "{sendJsonAlone}"
    },
    "body-no-value": {
      what: "The body is the text of an object that was not serialised.",
      remedy: "{useLibrary}"
    },
    "body-python": {
      what: "The body is Python's notation of a dictionary, not JSON.",
      remedy: "Use json.dumps(\u2026), not str(\u2026)."
    },
    "body-nan": {
      what: "The body is almost JSON, but contains NaN or Infinity.",
      remedy: "Omit the field."
    },
    "body-ruby": {
      what: "The body is the notation of a Ruby or PHP array, not JSON.",
      remedy: "{useLibrary}"
    },
    "body-bare-keys": {
      what: "The body is almost JSON, but keys have no quotation marks.",
      remedy: "{useLibrary}"
    },
    "body-trailing-comma": {
      what: "The body is almost JSON, but has a comma before a closing brace or bracket.",
      remedy: "{useLibrary}"
    },
    "body-several": {
      what: "The body is several JSON objects instead of one.",
      remedy: "Send each event in a separate request."
    },
    "body-cut": {
      what: "The body is a JSON object without its end.",
      remedy: "Check that Content-Length counts bytes, not characters."
    },
    "body-not-json": {
      what: "The body is not JSON.",
      remedy: "{useLibrary}"
    },
    "json-array": {
      what: "The body is an array of {length}. It must be one object.",
      remedy: "Send each event in a separate request."
    },
    "json-twice": {
      what: "The body is JSON inside a JSON string. It was serialised twice.",
      remedy: "{passJson}"
    },
    "json-no-object": {
      what: "The body is {shape}.",
      remedy: "Send a JSON object."
    },
    "event-misspelt": {
      what: "This event is unknown. Did you mean {meant}? It is stored, but not processed.",
      remedy: "Send exactly {meant}."
    },
    "event-unknown": {
      grade: "risky",
      what: "This event is unknown{near}. It is stored, but not processed.",
      remedy: "Tell us before you send a new event. We know {events}."
    },
    "field-missing": {
      what: "{field} is missing.",
      remedy: "Send {field}: {expected}."
    },
    "field-misnamed": {
      what: "{field} is missing; a field has a similar name: check its spelling, case and underscores.",
      remedy: "Send {field}: {expected}."
    },
    "field-misnamed/synonym": {
      what: "{field} is missing; {synonym} may be meant as this field.",
      remedy: "Send {field}: {expected}."
    },
    "field-empty": {
      what: "{field} is empty.",
      remedy: "It is required."
    },
    "field-wrong": {
      what: "{field} {detail}; it is {shape}.",
      remedy: "Send {expected}."
    },
    "field-wrong/unread": {
      what: "{field} {detail}."
    },
    "data-as-text": {
      what: "data is a string. It must be an object.",
      remedy: "Send an object in braces."
    },
    "data-as-text/json": {
      what: "data is a string that contains JSON. It must be an object.",
      remedy: "Serialise once. Pass the object to the serialiser, not its JSON."
    },
    "data-unused": {
      grade: "risky",
      what: "data has no field that we read for {event}, so we cannot tell what the event is about.",
      remedy: "Send one or more of {fields}."
    },
    "field-ignored": {
      grade: "risky",
      what: "data.{field} is {shape}. It is ignored, as if it were absent.",
      remedy: "Send a string or a number, or omit the field."
    },
    "field-unread": {
      grade: "risky",
      what: "A field of data with a name similar to {field} is ignored.",
      remedy: "If it has this meaning, send it as {field}. Check its spelling, case and underscores."
    },
    "field-unread/synonym": {
      grade: "risky",
      what: "data.{synonym} is ignored. Did you mean {field}?",
      remedy: "If it has this meaning, send it as {field}."
    },
    "host/missing": {
      grade: "risky",
      what: "Host is missing.",
      remedy: "Send Host once. AWS finds the API by this header."
    },
    "key-twice": {
      grade: "risky",
      what: "An object in the JSON has the same key twice. Only the last value is used.",
      remedy: "Use each key once."
    },
    "number-too-large": {
      grade: "risky",
      what: "The JSON has an integer of 2^53 or above. Most parsers round it, so we do not use it.",
      remedy: "Send such a number as a string."
    },
    "id-without-value": {
      what: "data.{id} is a text such as null or undefined, which programs write for a missing value.",
      remedy: "Send the id, or omit the field. A missing value must not become a text."
    },
    placeholder: {
      what: "A text contains a placeholder that was not replaced, such as {{girl_id}}.",
      remedy: "Fill in the template before you sign it. Check the names of its variables."
    },
    "html-entities": {
      grade: "risky",
      what: "A text contains HTML entities, such as &amp; or &eacute;. They are stored and shown like this.",
      remedy: "Send plain text. Do not escape it for HTML."
    },
    mojibake: {
      grade: "risky",
      what: "A text was probably decoded with a wrong charset before it was sent: Caf\xC3\xA9 or Caf\uFFFD instead of Caf\xE9.",
      remedy: "Read the text as UTF-8 from its file, database or form. The signature cannot show this."
    },
    bom: {
      grade: "fine",
      what: "The body begins with a byte order mark. It is removed."
    },
    "timestamp-missing": {
      what: "timestamp is null.",
      remedy: "{sendUtc}"
    },
    "timestamp-number": {
      what: "timestamp is a number, such as a Unix time.",
      remedy: "{sendUtc}"
    },
    "timestamp-number/quoted": {
      what: "timestamp is a number in quotation marks, such as a Unix time.",
      remedy: "{sendUtc}"
    },
    "timestamp-empty": {
      what: "timestamp is empty.",
      remedy: "{sendUtc}"
    },
    "timestamp-white-space": {
      what: "timestamp has leading or trailing white space.",
      remedy: "{sendUtc}"
    },
    "timestamp-without-zone": {
      what: "timestamp has no time zone.",
      remedy: "{sendUtc}"
    },
    "timestamp-leap-second": {
      what: "timestamp is a leap second (:60), which is not accepted.",
      remedy: "{sendUtc}"
    },
    "timestamp-no-moment": {
      what: "timestamp is a day or time that does not exist.",
      remedy: "{sendUtc}"
    },
    "timestamp-with-offset": {
      what: "timestamp has an offset. It must be in UTC and end with Z.",
      remedy: "{sendUtc}"
    },
    "timestamp-date-only": {
      what: "timestamp is a date without a time.",
      remedy: "{sendUtc}"
    },
    "timestamp-of-http": {
      what: "timestamp is a date in the format of HTTP and e-mail.",
      remedy: "{sendUtc}"
    },
    "timestamp-other/type": {
      what: "timestamp is not a string.",
      remedy: "{sendUtc}"
    },
    "timestamp-other": {
      what: "timestamp is not a date and time of ISO 8601 in UTC.",
      remedy: "{sendUtc}"
    },
    "timestamp-future": {
      grade: "risky",
      what: "timestamp is {duration} in the future.",
      remedy: "Set the clock, and use UTC. The service counts this timestamp as {tolerance} minutes after the receipt, so your events may get another order."
    },
    "timestamp-past": {
      grade: "risky",
      what: "timestamp is {duration} in the past.",
      remedy: "This is fine for a sample or a repeat. Otherwise set the clock: events older than our data are not written."
    },
    repeat: {
      grade: "fine",
      what: "Repeat {index} of delivery {delivery}, after {wait}. {ending}"
    },
    "repeat-after-200": {
      grade: "risky",
      what: "The previous request got 200. This is final, but it was repeated.",
      remedy: "Stop after 200: the event is stored. Check whether the sender reads the answer."
    },
    "repeat-after-400": {
      grade: "risky",
      what: "The previous request got 400. This is final, but it was repeated.",
      remedy: "Do not repeat after 400. The event is stored for review, and a repeat would be rejected again."
    },
    "repeat-while-under-way": {
      grade: "risky",
      what: "It was sent before the previous request had an answer.",
      remedy: "Wait {answerWait} s for the answer before you send it again. Check that only one worker sends an event."
    },
    "repeat-early": {
      grade: "risky",
      what: "The first repeat came too early, after {wait}.",
      remedy: "{waitLonger} A test may use shorter waits."
    },
    "repeat-storm": {
      what: "It was repeated again and again without waits: this time after {wait}. Waits must grow.",
      remedy: "{waitLonger} A test may use shorter waits, from 0.5 s on."
    },
    "repeat-sooner": {
      what: "The wait was {wait}, but an earlier one was {longest}. Waits must grow.",
      remedy: "{waitLonger}"
    },
    "repeat-steady": {
      grade: "risky",
      what: "The wait was {wait}, but an earlier one was {longest}. Waits should grow.",
      remedy: "{waitLonger}"
    },
    "retry-after-ignored": {
      what: "The wait was {missing} shorter than the {asked} of Retry-After.",
      remedy: "Wait at least as long as Retry-After says."
    },
    "repeat-changed": {
      what: "This repeats a delivery with other bytes, so it counts as another event.",
      remedy: "Store the body, and repeat the same bytes with the same timestamp."
    },
    "gave-up": {
      grade: "fine",
      what: "The sender gave up after {wait}, before it got an answer."
    },
    "gave-up-early": {
      grade: "risky",
      what: "The sender gave up after {wait}, before it got an answer.",
      remedy: "Wait {answerWait} s. The service may have stored the event, and a repeat would be a duplicate."
    },
    "signature-twice": {
      what: "X-Webhook-Signature was sent {times}, with {which}.",
      remedy: "Send the header once. Check whether the client appends to it, or a proxy repeats it."
    },
    "signature-empty": {
      what: "X-Webhook-Signature is empty.",
      remedy: "Compute the signature before the request is built. Its variable was still empty."
    },
    "signature-no-value": {
      what: "X-Webhook-Signature contains a text such as undefined or [object Object] instead of a signature.",
      remedy: "Send the hex digest as text, not the hash object and not an unset variable."
    },
    "signature-cut": {
      what: "The signature is correct, but cut off after {bytes} of its 32 bytes.",
      remedy: "Send all 32 bytes: 64 hex digits, or 44 characters of base64."
    },
    "signature-malformed": {
      what: "X-Webhook-Signature has {length} characters that are not a signature. Expected: 64 hex digits, or 43 to 44 characters of base64.",
      remedy: "Send the 32 bytes of the HMAC-SHA256 as 64 hex digits."
    },
    "signature-other": {
      what: "The signature is well formed, but made from other bytes or with another secret. No known mistake explains it.",
      remedy: "Compare the secrets first. Then compare the SHA-256 of the bytes that you sign with that of the {bytes} bytes that arrived: the event id above."
    },
    "signature-missing": {
      what: "X-Webhook-Signature is missing.",
      remedy: "Send the HMAC-SHA256 of the body, with the secret as the key, as 64 hex digits in that header."
    },
    "signature-elsewhere": {
      what: "X-Webhook-Signature is missing; {content} in {place}.",
      remedy: "Send it in X-Webhook-Signature."
    },
    "signature-elsewhere/secret": {
      what: "X-Webhook-Signature is missing; the secret itself is in {place}.",
      remedy: "Send the HMAC-SHA256 of the body in X-Webhook-Signature. Never send the secret."
    },
    "signature-spelling": {
      what: "The signature is correct, but the service cannot read this form of it. Check the base64 padding.",
      remedy: "Send the 32 bytes as 64 hex digits, or as base64 with one equals sign at the end."
    },
    "signed-event-before": {
      what: "The signature belongs to an event that was sent before.",
      remedy: "Compute a new signature for each request. A variable, header or object is being reused."
    },
    "key-trimmed": {
      what: "The key is the secret without white space around it, but ours has white space.",
      remedy: "Agree on the secret without the white space. One side has pasted it with the secret."
    },
    "key-white-space/after": {
      what: "The key is the secret followed by a line break, space or zero byte.",
      remedy: "Remove white space when you read the secret from a file or variable."
    },
    "key-white-space/before": {
      what: "The key is the secret after a space, tab or line break.",
      remedy: "Remove white space when you read the secret from a file or variable."
    },
    "key-twice/pasted": {
      what: "The key is the secret twice in a row.",
      remedy: "Set the secret again, once. It was probably pasted twice."
    },
    "key-quoted": {
      what: "The key is the secret in quotation marks.",
      remedy: "Remove the quotation marks. They are not part of the secret."
    },
    "key-hex-decoded": {
      what: "The key is the secret decoded from hex.",
      remedy: "{useSecret}"
    },
    "key-base64-decoded": {
      what: "The key is the secret decoded from base64.",
      remedy: "{useSecret}"
    },
    "key-base64-decoded/prefix": {
      what: "The key is the part after the prefix, decoded from base64.",
      remedy: "{useSecret}"
    },
    "key-without-prefix": {
      what: "The key is the secret without its prefix.",
      remedy: "{useSecret}"
    },
    "key-normalised/nfc": {
      what: "The key is the secret in Unicode form NFC, but ours is in another form.",
      remedy: "{useSecret}"
    },
    "key-normalised/nfd": {
      what: "The key is the secret in Unicode form NFD, but ours is in another form.",
      remedy: "{useSecret}"
    },
    "key-cut": {
      what: "The key is the secret cut off at a usual length, such as 32 bytes.",
      remedy: "Use the whole secret. HMAC accepts a key of any length."
    },
    "key-cut/last": {
      what: "The key is the secret without its last character.",
      remedy: "Use the whole secret. HMAC accepts a key of any length."
    },
    "key-cut/first": {
      what: "The key is the secret without its first character.",
      remedy: "Use the whole secret. HMAC accepts a key of any length."
    },
    "key-latin-1": {
      what: "The key is the secret in Latin-1.",
      remedy: "{useSecret}"
    },
    "key-latin-1/decoded": {
      what: "The key is the secret decoded as Latin-1 and encoded as UTF-8.",
      remedy: "{useSecret}"
    },
    "key-utf-16": {
      what: "The key is the secret in UTF-16.",
      remedy: "{useSecret}"
    },
    "key-encoded/base64": {
      what: "The key is the base64 of the secret.",
      remedy: "{useSecret}"
    },
    "key-encoded/hex": {
      what: "The key is the hex digits of the secret.",
      remedy: "{useSecret}"
    },
    "key-encoded/url": {
      what: "The key is the URL-encoded secret.",
      remedy: "{useSecret}"
    },
    "key-hashed": {
      what: "The key is the SHA-256 of the secret.",
      remedy: "{useSecret}"
    },
    "key-hashed/hex": {
      what: "The key is the SHA-256 of the secret in hex.",
      remedy: "{useSecret}"
    },
    "key-case/lower": {
      what: "The key is the secret in lower case.",
      remedy: "{useSecret}"
    },
    "key-case/upper": {
      what: "The key is the secret in upper case.",
      remedy: "{useSecret}"
    },
    "key-missing": {
      what: "The key is empty, or a text such as undefined.",
      remedy: "Check that the setting with the secret is read. It has no value."
    },
    "key-name": {
      what: "The key is the name of a setting, such as $WEBHOOK_SECRET, instead of its value.",
      remedy: "Use the value of the setting. In single quotation marks, a shell does not replace $NAME."
    },
    "key-local": {
      what: "The key is the secret of the local stack.",
      remedy: "Sign with the agreed secret, or start this checker with the secret that you use."
    },
    "other-hash": {
      what: "The signature is HMAC-{hash}, not HMAC-SHA256.",
      remedy: "{useHmac}"
    },
    "plain-hash/body": {
      what: "The signature is the {hash} of the body alone: a plain hash, not an HMAC.",
      remedy: "{useHmac}"
    },
    "plain-hash/both": {
      what: "The signature is the {hash} of the secret and the body: a plain hash, not an HMAC.",
      remedy: "{useHmac}"
    },
    "key-and-body-swapped": {
      what: "The signature is made with the body as the key and the secret as the message.",
      remedy: "{useHmac}"
    },
    "digest-twice": {
      what: "The signature is an HMAC of the HMAC. Call the function once.",
      remedy: "{useHmac}"
    },
    "newline-not-signed": {
      what: "The signature is over the body without its final line break.",
      remedy: "{serialiseOnce}"
    },
    "newline-signed": {
      what: "The signature is over the body with a final line break that was not sent.",
      remedy: "{serialiseOnce}"
    },
    trimmed: {
      what: "The signature is over the body without its leading and trailing white space.",
      remedy: "{serialiseOnce}"
    },
    "line-breaks/lf": {
      what: "The signature is over the body with LF line breaks, but it was sent with CR LF.",
      remedy: "Send the file as bytes, not as text. With curl, use --data-binary instead of -d."
    },
    "line-breaks/crlf": {
      what: "The signature is over the body with CR LF line breaks, but it was sent with LF.",
      remedy: "Send the file as bytes, not as text. With curl, use --data-binary instead of -d."
    },
    "line-breaks/none": {
      what: "The signature is over the body without its line breaks.",
      remedy: "Send the file as bytes, not as text. With curl, use --data-binary instead of -d."
    },
    "line-breaks/lost": {
      what: "The signature is over the text with line breaks, but it was sent without them, as curl -d @file does.",
      remedy: "Send the file as bytes, not as text. With curl, use --data-binary instead of -d."
    },
    reformatted: {
      what: "The signature is over the text with other white space at the beginnings or ends of lines.",
      remedy: "{serialiseOnce}"
    },
    "byte-order-mark/removed": {
      what: "The signature is over the body without its byte order mark (EF BB BF).",
      remedy: "Use UTF-8 without a byte order mark, for signing and for sending."
    },
    "byte-order-mark/added": {
      what: "The signature is over the body with a byte order mark (EF BB BF) that was not sent.",
      remedy: "Use UTF-8 without a byte order mark, for signing and for sending."
    },
    "cut-at-nul": {
      what: "The signature is over the body up to its first zero byte.",
      remedy: "{encodeOnce}"
    },
    "latin-1": {
      what: "The signature is over the text in Latin-1, but it was sent in UTF-8.",
      remedy: "{encodeOnce}"
    },
    "latin-1/decoded": {
      what: "The signature is over the body decoded as Latin-1 and encoded as UTF-8: each byte beyond ASCII became two.",
      remedy: "{encodeOnce}"
    },
    ascii: {
      what: "The signature is over the text in ASCII, with a question mark for every other character.",
      remedy: "{encodeOnce}"
    },
    "utf-16": {
      what: "The signature is over the text in UTF-16, but it was sent in UTF-8.",
      remedy: "{encodeOnce}"
    },
    "body-not-utf-8/decoded": {
      what: "The signature is over the body decoded as UTF-8, although it is not UTF-8.",
      remedy: "{encodeOnce}"
    },
    surrogates: {
      what: "The signature is over the text in CESU-8, in which an emoji has six bytes instead of four.",
      remedy: "{encodeOnce}"
    },
    "normalised/nfc": {
      what: "The signature is over the text in Unicode form NFC, but it was sent in another form.",
      remedy: "{encodeOnce}"
    },
    "normalised/nfd": {
      what: "The signature is over the text in Unicode form NFD, but it was sent in another form.",
      remedy: "{encodeOnce}"
    },
    "body-utf-16/signed": {
      what: "The signature is over the text in UTF-8, but it was sent in UTF-16.",
      remedy: "{encodeOnce}"
    },
    "signed-a-digest/bytes": {
      what: "The signature is over the SHA-256 of the body instead of the body.",
      remedy: "Pass the bytes of the body to the HMAC function. It does the hashing."
    },
    "signed-a-digest/hex": {
      what: "The signature is over the SHA-256 of the body in hex instead of the body.",
      remedy: "Pass the bytes of the body to the HMAC function. It does the hashing."
    },
    "signed-a-digest/base64": {
      what: "The signature is over the SHA-256 of the body in base64 instead of the body.",
      remedy: "Pass the bytes of the body to the HMAC function. It does the hashing."
    },
    "signed-a-digest/body-base64": {
      what: "The signature is over the base64 of the body instead of the body.",
      remedy: "Pass the bytes of the body to the HMAC function. It does the hashing."
    },
    "signed-a-digest/body-hex": {
      what: "The signature is over the hex digits of the body instead of the body.",
      remedy: "Pass the bytes of the body to the HMAC function. It does the hashing."
    },
    "signed-nothing": {
      what: "The signature is over an empty text instead of the body.",
      remedy: "Sign the body after it is complete, and before its stream has been read to the end."
    },
    "signed-path": {
      what: "The signature is over the name of a file instead of its content.",
      remedy: "Sign the content of the file, not its name."
    },
    "compressed/afterwards": {
      what: "The signature is over the uncompressed body, which was compressed ({name}) afterwards.",
      remedy: "Send the body uncompressed. The service verifies the bytes that arrive and does not decompress them."
    },
    "form-encoded/value": {
      what: "The signature is over the value of a form field, but the body is the whole form.",
      remedy: "{sendJsonAlone}"
    },
    "html-escaped/signed": {
      what: "The signature is over the text with HTML entities, but it was sent without them.",
      remedy: "Do not escape JSON for HTML. Sign exactly the bytes that you send."
    },
    "html-escaped/unsigned": {
      what: "The signature is over the text without HTML entities, but it was sent with them.",
      remedy: "Do not escape JSON for HTML. Sign exactly the bytes that you send."
    },
    "signed-with-timestamp": {
      what: "The signature is over a timestamp and the body together, as other services require.",
      remedy: "Sign only the body. It contains its own timestamp."
    },
    "signed-with-address": {
      what: "The signature is over the method or the URL and the body together.",
      remedy: "Sign only the body, without method, path or host."
    },
    "json-twice/sent": {
      what: "The signature is over the JSON, but the body is this JSON serialised again, as a string in quotation marks.",
      remedy: "{passJson}"
    },
    "json-twice/both": {
      what: "The signature is over the JSON serialised again, as a string in quotation marks.",
      remedy: "Serialise once. Sign and send the result of the first call."
    },
    "json-reserialised": {
      what: "The signature is over JSON that was serialised again, as {writer} does, instead of the bytes that were sent.",
      remedy: "{serialiseOnce}"
    },
    "signed-python": {
      what: "The signature is over Python's notation of a dictionary, from str(\u2026), instead of JSON.",
      remedy: "Call json.dumps(\u2026) once. Sign exactly these bytes, and send exactly these bytes."
    },
    "signed-data-only": {
      what: "The signature is over only data instead of the whole body.",
      remedy: "Sign all bytes of the body, from the first brace to the last."
    },
    "signature-encoded-twice": {
      what: "The value of the header was encoded twice: as hex or base64 of the hex or base64 text.",
      remedy: "{sendBytes}"
    },
    "signature-white-space": {
      what: "The value of the header contains white space.",
      remedy: "{sendBytes}"
    },
    "signature-white-space/plus": {
      what: "The value of the header has spaces instead of the plus signs of base64.",
      remedy: "{sendBytes}"
    },
    "signature-prefix/twice": {
      what: "The value of the header has the prefix sha256= twice.",
      remedy: "{sendBytes}"
    },
    "signature-prefix": {
      what: "The value of the header has a prefix other than sha256= (lower case, with an equals sign).",
      remedy: "{sendBytes}"
    },
    "signature-prefix/0x": {
      what: "The value of the header begins with 0x.",
      remedy: "{sendBytes}"
    },
    "signature-quoted": {
      what: "The value of the header is in quotation marks.",
      remedy: "{sendBytes}"
    },
    "signature-quoted/python": {
      what: "The value of the header is Python's b'\u2026': bytes that were not converted to text.",
      remedy: "{sendBytes}"
    },
    "signature-v1": {
      what: "The value of the header has the form v1=\u2026 of other services.",
      remedy: "{sendBytes}"
    },
    "signature-openssl": {
      what: "The value of the header is the whole output line of openssl.",
      remedy: "{sendBytes}"
    },
    "signature-openssl/stdin": {
      what: "The value of the header is the whole output line of openssl or sha256sum.",
      remedy: "{sendBytes}"
    },
    "signature-scheme": {
      what: "The value of the header begins with an extra word.",
      remedy: "{sendBytes}"
    },
    "signature-scheme/colons": {
      what: "The value of the header is enclosed in colons.",
      remedy: "{sendBytes}"
    },
    "signature-several": {
      what: "The value of the header contains several signatures, joined by commas.",
      remedy: "{sendBytes}"
    },
    "signature-separators": {
      what: "The value of the header has a separator between pairs of hex digits.",
      remedy: "{sendBytes}"
    },
    "signature-url-escapes": {
      what: "The value of the header is URL-encoded.",
      remedy: "{sendBytes}"
    }
  }
};

// tools/check-sender/finding.ts
var ANSWER_WAIT_SECONDS = GATEWAY_TIMEOUT_SECONDS + 6;
var FIRST_WAIT_SECONDS = 10;
var CONSTANTS = {
  ...findings_default.remedies,
  post: `POST ${WEBHOOK_PATH}`,
  megabytes: EVENT_MEGABYTES,
  encodedMegabytes: ENCODED_BODY_MEGABYTES,
  tolerance: CLOCK_TOLERANCE / 6e4,
  answerWait: ANSWER_WAIT_SECONDS,
  firstWait: FIRST_WAIT_SECONDS
};
function finding(name, values = {}) {
  const words = findings_default.findings[name];
  const { grade = "wrong", what, remedy } = words;
  const fill = (text2) => text2.replaceAll(/\{(\w+)\}/g, (place, key) => {
    const value = values[key] ?? CONSTANTS[key] ?? place;
    return typeof value === "number" ? value.toLocaleString("en") : value === place ? place : fill(value);
  });
  const kind = name.replace(/\/.*/, "");
  return { grade, kind, what: fill(what), remedy: remedy && fill(remedy) };
}

// lib/did-you-mean.ts
var MAX_CHANGES = 3;
var MAX_WORD_LENGTH = 64;
var plain = (word) => word.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
function nearest(word, words) {
  if (word.length > MAX_WORD_LENGTH) return void 0;
  const same = words.find((known) => plain(known) === plain(word));
  if (same !== void 0) return same;
  const [best] = words.map((known) => ({ known, changes: distance(plain(word), plain(known)) })).filter(
    ({ known, changes }) => changes <= Math.min(MAX_CHANGES, Math.floor(known.length / 3)) || isOneSlip(plain(word), plain(known))
  ).sort((a, b) => a.changes - b.changes);
  return best?.known;
}
var MAX_ENDING = 2;
function isSlipOf(name, known, maxChanges = 1) {
  if (name.length > MAX_WORD_LENGTH) return false;
  if (plain(name) === plain(known)) return true;
  if (maxChanges === 0) return false;
  const words = wordsOf(name);
  const knownWords = wordsOf(known);
  if (words.length !== knownWords.length) return isOneSlip(plain(name), plain(known));
  return words.every((word, index) => isOneSlip(word, knownWords[index] ?? ""));
}
var wordsOf = (name) => name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== "");
function isOneSlip(word, known) {
  if (distance(word, known) <= 1) return true;
  const [short = "", long = ""] = [word, known].sort((a, b) => a.length - b.length);
  if (short.length > 3 && long.startsWith(short) && long.length - short.length <= MAX_ENDING) return true;
  const at = [...word].findIndex((letter, index) => letter !== known[index]);
  return `${word.slice(0, at)}${word[at + 1] ?? ""}${word[at] ?? ""}${word.slice(at + 2)}` === known;
}
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (character === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

// tools/check-sender/signing-variants.ts
import { createHash as createHash2, createHmac as createHmac2 } from "node:crypto";

// node_modules/valibot/dist/index.mjs
var store$4;
var DEFAULT_CONFIG = {
  lang: void 0,
  message: void 0,
  abortEarly: void 0,
  abortPipeEarly: void 0
};
// @__NO_SIDE_EFFECTS__
function getGlobalConfig(config$1) {
  if (!config$1 && !store$4) return DEFAULT_CONFIG;
  return {
    lang: config$1?.lang ?? store$4?.lang,
    message: config$1?.message,
    abortEarly: config$1?.abortEarly ?? store$4?.abortEarly,
    abortPipeEarly: config$1?.abortPipeEarly ?? store$4?.abortPipeEarly
  };
}
var store$3;
// @__NO_SIDE_EFFECTS__
function getGlobalMessage(lang) {
  return store$3?.get(lang);
}
var store$2;
// @__NO_SIDE_EFFECTS__
function getSchemaMessage(lang) {
  return store$2?.get(lang);
}
var store$1;
// @__NO_SIDE_EFFECTS__
function getSpecificMessage(reference, lang) {
  return store$1?.get(reference)?.get(lang);
}
// @__NO_SIDE_EFFECTS__
function _stringify(input) {
  const type = typeof input;
  if (type === "string") return `"${input}"`;
  if (type === "number" || type === "bigint" || type === "boolean") return `${input}`;
  if (type === "object" || type === "function") return (input && Object.getPrototypeOf(input)?.constructor?.name) ?? "null";
  return type;
}
function _addIssue(context, label, dataset, config$1, other) {
  const input = other && "input" in other ? other.input : dataset.value;
  const expected = other?.expected ?? context.expects ?? null;
  const received = other?.received ?? /* @__PURE__ */ _stringify(input);
  const issue = {
    kind: context.kind,
    type: context.type,
    input,
    expected,
    received,
    message: `Invalid ${label}: ${expected ? `Expected ${expected} but r` : "R"}eceived ${received}`,
    requirement: context.requirement,
    path: other?.path,
    issues: other?.issues,
    lang: config$1.lang,
    abortEarly: config$1.abortEarly,
    abortPipeEarly: config$1.abortPipeEarly
  };
  const isSchema = context.kind === "schema";
  const message$1 = other?.message ?? context.message ?? /* @__PURE__ */ getSpecificMessage(context.reference, issue.lang) ?? (isSchema ? /* @__PURE__ */ getSchemaMessage(issue.lang) : null) ?? config$1.message ?? /* @__PURE__ */ getGlobalMessage(issue.lang);
  if (message$1 !== void 0) issue.message = typeof message$1 === "function" ? message$1(issue) : message$1;
  if (isSchema) dataset.typed = false;
  if (dataset.issues) dataset.issues.push(issue);
  else dataset.issues = [issue];
}
// @__NO_SIDE_EFFECTS__
function _joinExpects(values$1, separator) {
  const list = [...new Set(values$1)];
  if (list.length > 1) return `(${list.join(` ${separator} `)})`;
  return list[0] ?? "never";
}
function _standardSchema(schema) {
  schema["~standard"] = {
    version: 1,
    vendor: "valibot",
    validate: (value$1) => schema["~run"]({ value: value$1 }, /* @__PURE__ */ getGlobalConfig())
  };
  return schema;
}
var EMOJI_REGEX = new RegExp("^(?:[\\u{1F1E6}-\\u{1F1FF}]{2}|\\u{1F3F4}[\\u{E0061}-\\u{E007A}]{2}[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{1,3}\\u{E007F}|(?:\\p{Emoji}\\uFE0F\\u20E3?|\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}?|(?![\\p{Emoji_Modifier_Base}\\u{1F1E6}-\\u{1F1FF}])\\p{Emoji_Presentation})(?:\\u200D(?:\\p{Emoji}\\uFE0F\\u20E3?|\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}?|(?![\\p{Emoji_Modifier_Base}\\u{1F1E6}-\\u{1F1FF}])\\p{Emoji_Presentation}))*)+$", "u");
// @__NO_SIDE_EFFECTS__
function check(requirement, message$1) {
  return {
    kind: "validation",
    type: "check",
    reference: check,
    async: false,
    expects: null,
    requirement,
    message: message$1,
    "~run"(dataset, config$1) {
      if (dataset.typed && !this.requirement(dataset.value)) _addIssue(this, "input", dataset, config$1);
      return dataset;
    }
  };
}
// @__NO_SIDE_EFFECTS__
function minLength(requirement, message$1) {
  return {
    kind: "validation",
    type: "min_length",
    reference: minLength,
    async: false,
    expects: `>=${requirement}`,
    requirement,
    message: message$1,
    "~run"(dataset, config$1) {
      if (dataset.typed && dataset.value.length < this.requirement) _addIssue(this, "length", dataset, config$1, { received: `${dataset.value.length}` });
      return dataset;
    }
  };
}
// @__NO_SIDE_EFFECTS__
function rawTransform(action) {
  return {
    kind: "transformation",
    type: "raw_transform",
    reference: rawTransform,
    async: false,
    "~run"(dataset, config$1) {
      const output = action({
        dataset,
        config: config$1,
        addIssue: (info) => _addIssue(this, info?.label ?? "input", dataset, config$1, info),
        NEVER: null
      });
      if (dataset.issues) dataset.typed = false;
      else dataset.value = output;
      return dataset;
    }
  };
}
// @__NO_SIDE_EFFECTS__
function transform(operation) {
  return {
    kind: "transformation",
    type: "transform",
    reference: transform,
    async: false,
    operation,
    "~run"(dataset) {
      dataset.value = this.operation(dataset.value);
      return dataset;
    }
  };
}
// @__NO_SIDE_EFFECTS__
function getFallback(schema, dataset, config$1) {
  return typeof schema.fallback === "function" ? schema.fallback(dataset, config$1) : schema.fallback;
}
// @__NO_SIDE_EFFECTS__
function fallback(schema, fallback$1) {
  return _standardSchema({
    ...schema,
    fallback: fallback$1,
    "~run"(dataset, config$1) {
      const outputDataset = schema["~run"](dataset, config$1);
      return outputDataset.issues ? {
        typed: true,
        value: /* @__PURE__ */ getFallback(this, outputDataset, config$1)
      } : outputDataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function getDefault(schema, dataset, config$1) {
  return typeof schema.default === "function" ? schema.default(dataset, config$1) : schema.default;
}
// @__NO_SIDE_EFFECTS__
function custom(check$1, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "custom",
    reference: custom,
    expects: "unknown",
    async: false,
    check: check$1,
    message: message$1,
    "~run"(dataset, config$1) {
      if (this.check(dataset.value)) dataset.typed = true;
      else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function number(message$1) {
  return _standardSchema({
    kind: "schema",
    type: "number",
    reference: number,
    expects: "number",
    async: false,
    message: message$1,
    "~run"(dataset, config$1) {
      if (typeof dataset.value === "number" && !isNaN(dataset.value)) dataset.typed = true;
      else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function object(entries$1, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "object",
    reference: object,
    expects: "Object",
    async: false,
    entries: entries$1,
    message: message$1,
    "~run"(dataset, config$1) {
      const input = dataset.value;
      if (input && typeof input === "object") {
        dataset.typed = true;
        dataset.value = {};
        for (const key in this.entries) {
          const valueSchema = this.entries[key];
          if (key in input || (valueSchema.type === "exact_optional" || valueSchema.type === "optional" || valueSchema.type === "nullish") && valueSchema.default !== void 0) {
            const value$1 = key in input ? input[key] : /* @__PURE__ */ getDefault(valueSchema);
            const valueDataset = valueSchema["~run"]({ value: value$1 }, config$1);
            if (valueDataset.issues) {
              const pathItem = {
                type: "object",
                origin: "value",
                input,
                key,
                value: value$1
              };
              for (const issue of valueDataset.issues) {
                if (issue.path) issue.path.unshift(pathItem);
                else issue.path = [pathItem];
                dataset.issues?.push(issue);
              }
              if (!dataset.issues) dataset.issues = valueDataset.issues;
              if (config$1.abortEarly) {
                dataset.typed = false;
                break;
              }
            }
            if (!valueDataset.typed) dataset.typed = false;
            dataset.value[key] = valueDataset.value;
          } else if (valueSchema.fallback !== void 0) dataset.value[key] = /* @__PURE__ */ getFallback(valueSchema);
          else if (valueSchema.type !== "exact_optional" && valueSchema.type !== "optional" && valueSchema.type !== "nullish") {
            _addIssue(this, "key", dataset, config$1, {
              input: void 0,
              expected: `"${key}"`,
              path: [{
                type: "object",
                origin: "key",
                input,
                key,
                value: input[key]
              }]
            });
            if (config$1.abortEarly) break;
          }
        }
      } else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function optional(wrapped, default_) {
  return _standardSchema({
    kind: "schema",
    type: "optional",
    reference: optional,
    expects: `(${wrapped.expects} | undefined)`,
    async: false,
    wrapped,
    default: default_,
    "~run"(dataset, config$1) {
      if (dataset.value === void 0) {
        if (this.default !== void 0) dataset.value = /* @__PURE__ */ getDefault(this, dataset, config$1);
        if (dataset.value === void 0) {
          dataset.typed = true;
          return dataset;
        }
      }
      return this.wrapped["~run"](dataset, config$1);
    }
  });
}
// @__NO_SIDE_EFFECTS__
function string(message$1) {
  return _standardSchema({
    kind: "schema",
    type: "string",
    reference: string,
    expects: "string",
    async: false,
    message: message$1,
    "~run"(dataset, config$1) {
      if (typeof dataset.value === "string") dataset.typed = true;
      else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function _subIssues(datasets) {
  let issues;
  if (datasets) for (const dataset of datasets) if (issues) for (const issue of dataset.issues) issues.push(issue);
  else issues = dataset.issues;
  return issues;
}
// @__NO_SIDE_EFFECTS__
function union(options, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "union",
    reference: union,
    expects: /* @__PURE__ */ _joinExpects(options.map((option) => option.expects), "|"),
    async: false,
    options,
    message: message$1,
    "~run"(dataset, config$1) {
      let validDataset;
      let typedDatasets;
      let untypedDatasets;
      for (const schema of this.options) {
        const optionDataset = schema["~run"]({ value: dataset.value }, config$1);
        if (optionDataset.typed) if (optionDataset.issues) if (typedDatasets) typedDatasets.push(optionDataset);
        else typedDatasets = [optionDataset];
        else {
          validDataset = optionDataset;
          break;
        }
        else if (untypedDatasets) untypedDatasets.push(optionDataset);
        else untypedDatasets = [optionDataset];
      }
      if (validDataset) return validDataset;
      if (typedDatasets) {
        if (typedDatasets.length === 1) return typedDatasets[0];
        _addIssue(this, "type", dataset, config$1, { issues: /* @__PURE__ */ _subIssues(typedDatasets) });
        dataset.typed = true;
      } else if (untypedDatasets?.length === 1) return untypedDatasets[0];
      else _addIssue(this, "type", dataset, config$1, { issues: /* @__PURE__ */ _subIssues(untypedDatasets) });
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function pipe(...pipe$1) {
  return _standardSchema({
    ...pipe$1[0],
    pipe: pipe$1,
    "~run"(dataset, config$1) {
      for (const item of pipe$1) if (item.kind !== "metadata") {
        if (dataset.issues && (item.kind === "schema" || item.kind === "transformation")) {
          dataset.typed = false;
          break;
        }
        if (!dataset.issues || !config$1.abortEarly && !config$1.abortPipeEarly) dataset = item["~run"](dataset, config$1);
      }
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function safeParse(schema, input, config$1) {
  const dataset = schema["~run"]({ value: input }, /* @__PURE__ */ getGlobalConfig(config$1));
  return {
    typed: dataset.typed,
    success: !dataset.issues,
    output: dataset.value,
    issues: dataset.issues
  };
}

// lambda/events/fields.ts
var expecting = (shape) => (issue) => issue.input === void 0 ? `is missing: expected ${shape}` : `must be ${shape}`;
var object2 = (entries) => object(entries, ({ path: path2 }) => {
  const missing = entries[String(path2?.[0].key)];
  return (missing && safeParse(missing, void 0).issues?.[0].message) ?? "must be an object";
});
var nonEmpty = minLength(1, "must not be empty");
var wellFormed = check((value) => value.isWellFormed(), "must be well-formed Unicode");
var stringOrInteger = "a non-empty string or an integer below 2^53";
var identifier = pipe(string(expecting("a non-empty string")), nonEmpty, wellFormed);
var identifierOfEitherType = pipe(
  union([string(), number()], expecting(stringOrInteger)),
  check((value) => typeof value === "string" || Number.isSafeInteger(value), `must be ${stringOrInteger}`),
  transform(String),
  nonEmpty,
  wellFormed
);
var text = optional(
  pipe(
    string(expecting("a string")),
    transform((value) => value.toWellFormed())
  )
);
var textList = optional(
  pipe(
    custom(Array.isArray, expecting("an array of strings")),
    rawTransform(({ dataset: { value: values }, addIssue }) => {
      const texts = [];
      let problems = 0;
      for (const [key, value] of values.entries()) {
        if (typeof value === "string") texts.push(value.toWellFormed());
        else {
          addIssue({
            message: "must be a string",
            path: [{ type: "array", origin: "value", input: values, key, value }]
          });
          problems += 1;
        }
        if (problems === MAX_PROBLEMS) break;
      }
      return texts;
    })
  )
);
var assumedText = fallback(
  optional(
    pipe(
      union([pipe(string(), nonEmpty), number()]),
      check((value) => typeof value === "string" || Math.abs(value) < 2 ** 53),
      transform((value) => String(value).toWellFormed())
    )
  ),
  void 0
);

// lambda/events/shop-updated/event.ts
var event = {
  meaning: "Shop information was updated",
  processing: "Invalidate the shop cache",
  effect: "shop-cache",
  impact: "Readers still see shops as they were before an update.",
  // The fields that the contract shows. Only `shop_id` is needed (decision D11).
  data: object2({
    shop_id: identifier,
    name: text,
    updated_fields: textList
  })
};

// lambda/events/girl-schedule-changed/event.ts
var event2 = {
  meaning: "Staff schedule changed",
  processing: "Send a notification to the chat room",
  effect: "chat",
  impact: "Schedules change and the chat room is not notified.",
  // The contract does not show these fields. They are assumed, and used if present (decision D10).
  data: object2({
    shop_id: assumedText,
    girl_id: assumedText,
    name: assumedText
  })
};

// lambda/events/girl-created/event.ts
var event3 = {
  meaning: "Staff member added",
  processing: "Synchronise the cast",
  effect: "cast",
  impact: "New staff members are missing from the cast list.",
  // The contract does not show these fields. Assumed: `girl_id`, and the others if present (decision D10).
  data: object2({
    girl_id: identifierOfEitherType,
    shop_id: assumedText,
    name: assumedText
  })
};

// lambda/events/girl-deleted/event.ts
var event4 = {
  meaning: "Staff member removed",
  processing: "Synchronise the cast",
  effect: "cast",
  impact: "Staff members who left are still on the cast list.",
  // The contract does not show these fields. Assumed: `girl_id`, and the other if present (decision D10).
  data: object2({
    girl_id: identifierOfEitherType,
    shop_id: assumedText
  })
};

// lambda/events/review-posted/event.ts
var event5 = {
  meaning: "Review posted",
  processing: "Send a review notification",
  effect: "review",
  impact: "Reviews are posted and nobody is notified.",
  // The contract does not show these fields. They are assumed, and used if present (decision D10).
  data: object2({
    review_id: assumedText,
    shop_id: assumedText,
    girl_id: assumedText,
    name: assumedText,
    rating: assumedText,
    comment: assumedText
  })
};

// lambda/events/user-updated/event.ts
var event6 = {
  meaning: "User information updated",
  processing: "Update the contact_partner record",
  effect: "contact-partner",
  impact: "Partner contacts keep an old name, picture or shop.",
  // The fields that the contract shows. Only `user_id` is needed (decision D11).
  data: object2({
    user_id: identifier,
    shop_id: text,
    display_name: text,
    profile_image_url: text
  })
};

// lambda/events/index.ts
var events = {
  "shop.updated": event,
  "girl.schedule_changed": event2,
  "girl.created": event3,
  "girl.deleted": event4,
  "review.posted": event5,
  "user.updated": event6
};

// lambda/events/catalogue.ts
var catalogue = events;
var eventNames = Object.keys(catalogue);
function isEventName(name) {
  return Object.hasOwn(catalogue, name);
}

// lambda/events/timestamp.ts
var DATE = [
  String.raw`\d{4}-?(?:0[13578]|1[02])-?(?:0[1-9]|[12]\d|3[01])`,
  String.raw`\d{4}-?(?:0[469]|11)-?(?:0[1-9]|[12]\d|30)`,
  String.raw`\d{4}-?02-?(?:0[1-9]|1\d|2[0-8])`,
  String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-?02-?29`
].join("|");
var TIME = String.raw`([01]\d|2[0-3])(?::?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d+))?)?)?`;
var UTC_DATE_TIME = new RegExp(`^(${DATE})[Tt ]${TIME}(?:[Zz]|[+-]00(?::?00)?)$`);
var FRACTION_DIGITS = 9;
function normaliseTimestamp(text2) {
  const match = UTC_DATE_TIME.exec(text2);
  if (match === null) return void 0;
  const [, date = "", hours = "", minutes = "00", seconds2 = "00", fraction = ""] = match;
  const digits = date.replaceAll("-", "");
  const day = `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
  const nanoseconds = fraction.slice(0, FRACTION_DIGITS).padEnd(FRACTION_DIGITS, "0");
  return `${day}T${hours}:${minutes}:${seconds2}.${nanoseconds}Z`;
}
var hasNoZone = (text2) => UTC_DATE_TIME.test(`${text2}Z`);

// lambda/events/envelope.ts
var isObject2 = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var utcDateTime = "an existing date and time in UTC, written as 2026-01-31T09:00:00Z or 20260131T090000Z";
var envelope = object2({
  event: pipe(string(expecting("a non-empty string")), minLength(1, "must not be empty")),
  data: custom(isObject2, expecting("an object")),
  timestamp: pipe(
    string(expecting(utcDateTime)),
    rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
      const normalised = normaliseTimestamp(value);
      if (normalised !== void 0) return normalised;
      addIssue({
        message: hasNoZone(value) ? "has no time zone: if it is in UTC, add Z" : `must be ${utcDateTime}`
      });
      return NEVER;
    })
  )
});
var BYTE_ORDER_MARK = /^\uFEFF/;
var utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
function parsePayload(bytes2) {
  let text2;
  try {
    text2 = utf8.decode(bytes2);
  } catch {
    return unusableBody("must be UTF-8");
  }
  return parsePayloadText(text2);
}
function parsePayloadText(sent) {
  const text2 = sent.replace(BYTE_ORDER_MARK, "");
  if (text2 === "") return unusableBody("must not be empty");
  let payload;
  try {
    payload = JSON.parse(text2);
  } catch {
    return unusableBody("must be JSON");
  }
  if (!isObject2(payload)) return unusableBody("must be a JSON object");
  const outer = safeParse(envelope, payload);
  const name = payload.event;
  const definition = typeof name === "string" && isEventName(name) ? catalogue[name] : void 0;
  const inner = definition && isObject2(payload.data) ? safeParse(definition.data, payload.data) : void 0;
  const problems = [
    ...(outer.issues ?? []).map((issue) => toProblem(issue, [])),
    ...(inner?.issues ?? []).map((issue) => toProblem(issue, ["data"]))
  ];
  const [first, ...rest] = problems.slice(0, MAX_PROBLEMS);
  if (first) return { kind: "unusable", problems: [first, ...rest] };
  if (!outer.success) throw new Error("unreachable: a failed envelope names its problems");
  const { event: event7, data, timestamp } = outer.output;
  const { shop_id: shopId } = data;
  const sentShopId = typeof shopId === "string" || typeof shopId === "number" ? shopId : void 0;
  if (!inner?.success) return { kind: "unknown", event: { event: event7, sentShopId }, text: text2 };
  return {
    kind: "event",
    event: {
      // The name and the data were checked by one catalogue entry, which TypeScript cannot correlate.
      event: event7,
      data: inner.output,
      sentShopId,
      timestamp
    },
    text: text2
  };
}
function describeProblems(problems) {
  return problems.map(({ field, detail }) => `${field} ${detail}`).join("; ");
}
var unusableBody = (detail) => ({
  kind: "unusable",
  problems: [{ field: "body", detail }]
});
var toProblem = ({ path: path2, message }, parent) => ({
  field: [...parent, ...(path2 ?? []).map(({ key }) => key)].join("."),
  detail: message
});

// events/signing.ts
var LOCAL_SECRET = "local-webhook-secret";

// tools/check-sender/signing-variants.ts
var variantsIn = (table) => Object.entries(table).map(([name, make]) => [finding(name), make]);
function signingVariants(secret) {
  const right = Buffer.from(secret);
  const keys = variantsIn(KEYS).flatMap(
    ([mistake, make]) => make(secret, right).map((key) => ({ mistake, change: { key } }))
  );
  return [...keys.filter(({ change: { key } }) => !Buffer.from(key).equals(right)), ...ALGORITHMS];
}
var HEX2 = /^(?:[0-9a-f]{2})+$/i;
var BASE642 = /^[A-Za-z0-9+/_-]{4,}={0,2}$/;
var decoded = (text2, encoding) => (encoding === "hex" ? HEX2 : BASE642).test(text2) ? [Buffer.from(text2, encoding)] : [];
var afterPrefix = (secret) => secret.startsWith("whsec_") ? [secret.slice("whsec_".length)] : [];
var CUT_AFTER = [16, 32, 50, 64, 72, 100, 128];
var SETTING_NAMES = ["$_", `$${"{_}"}`, "{{_}}", "{{ _ }}", "%_%", "$env:_", "process.env._", "_"];
var sha256 = (bytes2) => createHash2("sha256").update(bytes2).digest();
var KEYS = {
  "key-trimmed": (secret) => [secret.trim()],
  "key-white-space/after": (secret) => ["\n", "\r\n", " ", "\0"].map((end) => secret + end),
  "key-white-space/before": (secret) => [" ", "	", "\n", "\r\n"].map((start) => start + secret),
  "key-twice/pasted": (secret) => ["", "\n", " "].map((sign2) => secret + sign2 + secret),
  "key-quoted": (secret) => [`"${secret}"`, `'${secret}'`],
  "key-hex-decoded": (secret) => decoded(secret, "hex"),
  "key-base64-decoded": (secret) => decoded(secret, "base64"),
  "key-base64-decoded/prefix": (secret) => afterPrefix(secret).flatMap((rest) => decoded(rest, "base64")),
  "key-without-prefix": afterPrefix,
  "key-normalised/nfc": (secret) => [secret.normalize("NFC")],
  "key-normalised/nfd": (secret) => [secret.normalize("NFD")],
  "key-cut": (_, bytes2) => CUT_AFTER.map((length) => bytes2.subarray(0, length)),
  "key-cut/last": (secret) => [secret.slice(0, -1)],
  "key-cut/first": (secret) => [secret.slice(1)],
  "key-latin-1": (secret) => [Buffer.from(secret, "latin1")],
  "key-latin-1/decoded": (_, bytes2) => [bytes2.toString("latin1")],
  "key-utf-16": utf16Of,
  "key-encoded/base64": (_, bytes2) => [bytes2.toString("base64")],
  "key-encoded/hex": (_, bytes2) => [bytes2.toString("hex")],
  "key-encoded/url": (secret) => [encodeURIComponent(secret.toWellFormed())],
  "key-hashed": (_, bytes2) => [sha256(bytes2)],
  "key-hashed/hex": (_, bytes2) => [sha256(bytes2).toString("hex")],
  "key-case/lower": (secret) => [secret.toLowerCase()],
  "key-case/upper": (secret) => [secret.toUpperCase()],
  "key-missing": () => ["", "undefined", "null", "None", "nil"],
  "key-name": () => SETTING_NAMES.map((name) => name.replace("_", "WEBHOOK_SECRET")),
  "key-local": () => [LOCAL_SECRET]
};
var hmacWith = (hash) => (key, message) => createHmac2(hash, key).update(message).digest();
var hmacSha256 = hmacWith("sha256");
function plainHash(name, ...parts) {
  const hash = createHash2(name.replace("-", ""));
  for (const part of parts) hash.update(part);
  return hash.digest();
}
var algorithm = (mistake, compute) => ({ mistake, change: { compute } });
var ALGORITHMS = [
  ...["SHA1", "SHA512", "SHA384", "SHA224", "MD5", "SHA3-256"].flatMap((hash) => {
    const mistake = finding("other-hash", { hash });
    const compute = hmacWith(hash);
    const cut = (key, message) => compute(key, message).subarray(0, 32);
    return [algorithm(mistake, compute), algorithm(mistake, cut)];
  }),
  ...["SHA-256", "SHA-1", "MD5", "SHA-512"].flatMap((hash) => {
    const mistake = finding("plain-hash/both", { hash });
    return [
      algorithm(finding("plain-hash/body", { hash }), (_, message) => plainHash(hash, message)),
      ...["", ".", ":", "|", "\n"].flatMap((sign2) => [
        algorithm(mistake, (key, message) => plainHash(hash, key, sign2, message)),
        algorithm(mistake, (key, message) => plainHash(hash, message, sign2, key))
      ])
    ];
  }),
  algorithm(finding("key-and-body-swapped"), (key, message) => hmacSha256(message, key)),
  algorithm(finding("digest-twice"), (key, message) => hmacSha256(key, hmacSha256(key, message)))
];

// tools/check-sender/readings.ts
var DIGEST_LENGTHS = /* @__PURE__ */ new Set([16, 20, 28, 32, 48, 64]);
var HEX3 = /^(?:[0-9a-f]{2})+$/i;
var BASE643 = /^[A-Za-z0-9+/_-]+={0,2}$/;
var MAX_DEPTH = 4;
var MIN_DIGEST_TEXT = 22;
var group = (pattern) => (value) => pattern.exec(value)?.slice(1, 2) ?? [];
function encodedText(value) {
  return ["hex", "base64"].filter((encoding) => (encoding === "hex" ? HEX3 : BASE643).test(value)).map((encoding) => Buffer.from(value, encoding).toString("latin1")).filter((text2) => text2.length >= MIN_DIGEST_TEXT && (HEX3.test(text2) || BASE643.test(text2)));
}
var WRAPPINGS = {
  "signature-encoded-twice": encodedText,
  "signature-white-space": (value) => [value.trim()],
  "signature-prefix/twice": group(/^sha256=(.+)$/),
  "signature-prefix": group(
    /^(?:hmac[-_]?sha-?256|hmac|sha-?(?:1|224|256|384|512)|md5|v0|sig1?|s|signature|digest)\s*[=:]\s*(\S.*)$/i
  ),
  "signature-prefix/0x": group(/^0x([0-9a-f]+)$/i),
  "signature-quoted": (value) => [...group(/^"(.*)"$/)(value), ...group(/^'(.*)'$/)(value)],
  "signature-quoted/python": group(/^b["'](.*)["']$/),
  "signature-v1": group(/^.*(?:^|[,;])\s*v1[=,]([^,;]+).*$/),
  "signature-openssl": group(/^.*\(stdin\)\s*=\s*(\S+)$/),
  "signature-openssl/stdin": group(/^(\S+)\s+\*?(?:stdin|-)$/),
  "signature-scheme": group(/^(?:hmac|bearer|signature|token|basic|hmac-sha256|sha256)\s+(\S.*)$/i),
  "signature-scheme/colons": group(/^:(\S+):$/),
  "signature-several": (value) => value.includes(",") ? value.split(",").map((part) => part.trim()) : [],
  "signature-separators": (value) => /^[0-9a-f]{2}([ :-])[0-9a-f]{2}\1/i.test(value) ? [value.replaceAll(/[ :-]/g, "")] : [],
  "signature-url-escapes": percentDecoded,
  "signature-white-space/plus": (value) => [value.replaceAll(" ", "+")]
};
var UNWRAPPINGS = variantsIn(WRAPPINGS);
function percentDecoded(text2) {
  try {
    return [decodeURIComponent(text2)];
  } catch {
    return [];
  }
}
function readings(value) {
  return unwrapped(value.startsWith(PREFIX) ? value.slice(PREFIX.length) : value, void 0, 0);
}
function unwrapped(value, outer, depth) {
  if (depth > MAX_DEPTH) return [];
  const digests = [
    ...HEX3.test(value) ? [Buffer.from(value, "hex")] : [],
    ...BASE643.test(value) ? [Buffer.from(value, "base64")] : []
  ];
  return [
    ...digests.filter(({ length }) => DIGEST_LENGTHS.has(length)).map((digest) => ({ digest, mistake: outer })),
    ...UNWRAPPINGS.flatMap(
      ([mistake, unwrap]) => unwrap(value).flatMap(
        (inner) => inner === value ? [] : unwrapped(inner, outer ?? mistake, depth + 1)
      )
    )
  ];
}
var timestampsIn = (value) => [...value.matchAll(/(?:^|[,;\s])t=(\d{1,20})/g)].map(([, digits = ""]) => digits);
var NO_VALUE = /^(?:undefined|null|none|nil|nan|true|false|\[object \w+\]|<buffer.*)$/i;
var PLACEHOLDER = /\{\{[^{}]*\}\}|\$\{[\w.]+\}|<%=?[^<>]*%>|^\{[A-Za-z_]\w*\}$|^\$[A-Za-z_]\w*$|^%[A-Za-z_]\w*%$/;
var MIN_SECRET_LENGTH = 8;
var BASE64_WORD = /[A-Za-z0-9+/_-]{11,}/g;
var MAX_TEXT_DECODED = 16 * 1024;
function isSecret(value, secret) {
  const texts = [value, value.replace(/^[\w-]+[ =:]+/, "")];
  const decoded2 = texts.map((text2) => Buffer.from(text2, "base64").toString());
  const isPassword = /^basic /i.test(value) && decoded2.some((text2) => text2.split(":").includes(secret));
  return isPassword || [...texts, ...decoded2].includes(secret);
}
function containsSecret(text2, secret) {
  if (secret.length < MIN_SECRET_LENGTH) return false;
  if (text2.includes(secret)) return true;
  if (text2.length > MAX_TEXT_DECODED) return false;
  return [...text2.matchAll(BASE64_WORD)].some(
    ([word]) => Buffer.from(word, "base64").toString().includes(secret)
  );
}

// tools/check-sender/signed-messages.ts
import { isUtf8 as isUtf82 } from "node:buffer";

// tools/check-sender/json-node.ts
var MAX_DEPTH2 = 200;
var TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]:,]|[^ \t\r\n{}[\]:,"]+/gs;
var outlineOf = (text2) => [...text2.matchAll(TOKEN)].map(([token]) => token.startsWith('"') ? '""' : token).join(" ");
function parseJson(text2) {
  try {
    JSON.parse(text2);
    const tokens = text2.matchAll(TOKEN);
    const take = () => tokens.next().value;
    return nodeAt(take(), take, 0);
  } catch {
    return void 0;
  }
}
var KINDS = { "{": "object", "[": "array", '"': "string" };
function nodeAt({ 0: token, index, input }, take, depth) {
  if (depth > MAX_DEPTH2) throw new RangeError("too deep");
  const kind = KINDS[token.charAt(0)] ?? "literal";
  if (kind === "string") return { kind, text: token, value: JSON.parse(token), children: [] };
  if (kind === "literal") return { kind, text: token, value: token, children: [] };
  const children = [];
  let next = take();
  while (!["}", "]"].includes(next[0])) {
    const key = kind === "array" ? String(children.length) : JSON.parse(next[0]);
    if (kind === "object") next = take() && take();
    children.push([key, nodeAt(next, take, depth + 1)]);
    next = take();
    if (next[0] === ",") next = take();
  }
  const text2 = input.slice(index, next.index + 1);
  return { kind, text: text2, value: text2, children };
}
var memberOf = (node, key) => node?.children.findLast(([name]) => name === key)?.[1];
var nodesIn = (node) => [
  node,
  ...node.children.flatMap(([, child]) => nodesIn(child))
];
function shapeOf({ kind, text: text2 }) {
  if (kind === "object" || kind === "array") return `an ${kind}`;
  if (kind === "string") return "a string";
  if (text2 === "null") return "null";
  return text2 === "true" || text2 === "false" ? "a boolean" : "a number";
}
function writeJson(node, form, level = 0) {
  const { kind, text: text2, value, children } = node;
  if (kind === "literal") return form.literals?.[text2] ?? text2;
  if (kind === "string") return form.quote(value);
  const kept = [...new Map(children)];
  if (form.isSorted && kind === "object") kept.sort(([a], [b]) => a < b ? -1 : 1);
  const parts = kept.map(([key, child]) => {
    const name = kind === "array" ? "" : form.quote(key) + form.colon;
    return name + writeJson(child, form, level + 1);
  });
  const [open, close] = kind === "array" ? "[]" : "{}";
  if (form.indent === void 0 || parts.length === 0 || form.isOnOneLine?.(node, level)) {
    const padding = kind === "object" && parts.length > 0 ? form.padding ?? "" : "";
    const comma = form.indent === void 0 ? form.comma : ", ";
    return `${open}${padding}${parts.join(comma)}${padding}${close}`;
  }
  const lineBreak = `
${form.indent.repeat(level)}`;
  const inner = `${lineBreak}${form.indent}`;
  return `${open}${inner}${parts.join(`${form.comma}${inner}`)}${lineBreak}${close}`;
}
var escapeUnicode = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
var escapeUpper = (character) => escapeUnicode(character).toUpperCase().replace("U", "u");
var ascii = (literal) => literal.replaceAll(/[\u0080-\uFFFF]/g, escapeUnicode);
var slashes = (literal) => literal.replaceAll("/", "\\/");
var html = (literal) => literal.replaceAll(/[<>&\u2028\u2029]/g, escapeUnicode);
var dotNet = (literal) => `"${literal.slice(1, -1).replaceAll('\\"', "\\u0022")}"`.replaceAll(/[<>&'+`\u0080-\uFFFF]/g, escapeUpper);
var ESCAPES = {
  "": (literal) => literal,
  " and with \\u escapes for what is not ASCII": ascii,
  " and with \\/ for each slash and \\u escapes": (literal) => slashes(ascii(literal)),
  " and with \\/ for each slash": slashes,
  " and with \\u escapes for < > &": html,
  " and with \\u escapes for < > & = '": (literal) => html(literal).replaceAll(/[=']/g, escapeUnicode),
  " and with the \\u escapes of .NET": dotNet
};
var TWO_SPACES = { comma: ",", colon: ": ", indent: "  " };
var isInner = (_, level) => level > 0;
var isArray = ({ kind }) => kind === "array";
var LAYOUTS = {
  "without white space": { comma: ",", colon: ":" },
  "with a space after each comma and colon": { comma: ", ", colon: ": " },
  "indented by two spaces": TWO_SPACES,
  "indented by four spaces": { ...TWO_SPACES, indent: "    " },
  "indented by tabs": { ...TWO_SPACES, indent: "	" },
  "with spaces inside braces": { comma: ", ", colon: ": ", padding: " " },
  "indented, with inner values on one line": { ...TWO_SPACES, padding: " ", isOnOneLine: isInner },
  "indented, with inner values on one line without padding": { ...TWO_SPACES, isOnOneLine: isInner },
  "indented, with arrays on one line": { ...TWO_SPACES, isOnOneLine: isArray }
};
var WRITERS = {
  "with a space after each comma and colon and with \\u escapes for what is not ASCII": "Python's json.dumps",
  "with a space after each comma and colon": "Python's json.dumps with ensure_ascii=False",
  "without white space and with \\u escapes for what is not ASCII": "Python's json.dumps with separators",
  "without white space and with \\/ for each slash and \\u escapes": "PHP's json_encode",
  "without white space and with \\/ for each slash": "PHP's json_encode with JSON_UNESCAPED_UNICODE",
  "indented by four spaces and with \\/ for each slash and \\u escapes": "PHP's json_encode with JSON_PRETTY_PRINT",
  "without white space and with \\u escapes for < > &": "Go's json.Marshal",
  "without white space and with \\u escapes for < > & = '": "Java's Gson",
  "without white space and with the \\u escapes of .NET": "C#'s JsonSerializer"
};
var writerOf = (name) => WRITERS[name] ?? `a library ${name}`;
var jsonForms = [false, true].flatMap(
  (isSorted) => Object.entries(ESCAPES).flatMap(
    ([escapeName, escapeText]) => Object.entries(LAYOUTS).map(([layoutName, layout]) => ({
      writer: writerOf(layoutName + escapeName) + (isSorted ? ", its keys sorted," : ""),
      form: { ...layout, isSorted, quote: (text2) => escapeText(JSON.stringify(text2)) }
    }))
  )
).sort((a, b) => Number(a.writer.startsWith("a library")) - Number(b.writer.startsWith("a library")));
var canonicalForm = { comma: ",", colon: ":", quote: JSON.stringify, isSorted: true };
var pythonForm = {
  comma: ", ",
  colon: ": ",
  literals: { true: "True", false: "False", null: "None" },
  // Python uses double quotation marks only for a text that contains single and no double quotation marks.
  quote: (text2) => {
    const escaped = text2.replaceAll(/[\\\n\r\t]/g, (sign2) => JSON.stringify(sign2).slice(1, -1));
    return text2.includes("'") && !text2.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
  }
};

// tools/check-sender/signed-messages.ts
var targetOf = ({ path: path2, query }) => query === "" ? path2 : `${path2}?${query}`;
var MAX_BYTES_FOR_ALL_VARIANTS = 1024 * 1024;
var MAX_TIMESTAMPS = 10;
var bytes = (change) => ({ latin1 }) => change(latin1).map((changed) => Buffer.from(changed, "latin1"));
var MESSAGES = {
  "newline-not-signed": bytes((body) => [body.replace(/\r?\n$/, "")]),
  "newline-signed": bytes((body) => [`${body}
`, `${body}\r
`]),
  trimmed: bytes((body) => [body.trim()]),
  "line-breaks/lf": bytes((body) => [body.replaceAll("\r\n", "\n")]),
  "line-breaks/crlf": bytes((body) => [body.replaceAll(/\r?\n/g, "\r\n")]),
  "line-breaks/none": bytes((body) => [body.replaceAll(/\r?\n/g, "")]),
  "line-breaks/lost": bytes(withLineBreaks),
  reformatted: bytes(reindented),
  // U+FEFF, the byte order mark, in UTF-8.
  "byte-order-mark/removed": bytes((body) => [body.replace(/^\xEF\xBB\xBF/, "")]),
  "byte-order-mark/added": bytes((body) => [`\xEF\xBB\xBF${body}`]),
  "cut-at-nul": bytes((body) => [body.replace(/\0.*/s, "")]),
  "latin-1": ({ text: text2 }) => [Buffer.from(text2, "latin1")],
  "latin-1/decoded": ({ latin1 }) => [latin1],
  ascii: ({ text: text2 }) => [text2.replaceAll(/[\u0080-\uFFFF]/g, "?")],
  "utf-16": ({ text: text2 }) => [text2, `\uFEFF${text2}`].flatMap(utf16Of),
  "body-not-utf-8/decoded": ({ text: text2 }) => [text2],
  surrogates: ({ text: text2 }) => [cesu8(text2)],
  "normalised/nfc": ({ text: text2 }) => [text2.normalize("NFC")],
  "normalised/nfd": ({ text: text2 }) => [text2.normalize("NFD")],
  // The first brace of JSON in UTF-16 has a zero byte beside it.
  "body-utf-16/signed": ({ body }) => body.includes(0) ? textsInUtf16(body).flatMap((text2) => [text2, text2.replace(/^\uFEFF/, "")]) : [],
  "signed-a-digest/bytes": ({ body }) => [sha256(body)],
  "signed-a-digest/hex": ({ body }) => [sha256(body).toString("hex")],
  "signed-a-digest/base64": ({ body }) => [sha256(body).toString("base64")],
  "signed-a-digest/body-base64": ({ body }) => [body.toString("base64")],
  "signed-a-digest/body-hex": ({ body }) => [body.toString("hex")],
  "signed-nothing": () => [""],
  "signed-path": () => PATHS.flatMap((path2) => [path2, `${path2}
`])
};
var INDENTED = /"[^"\\]*(?:\\.[^"\\]*)*"?|[ \t]{2,}|\t|\}$/g;
function withLineBreaks(body) {
  if (/[\r\n]/.test(body)) return [];
  return ["\n", "\r\n"].flatMap((lineBreak) => {
    const text2 = body.replaceAll(INDENTED, (part) => part.startsWith('"') ? part : `${lineBreak}${part}`);
    return [`${text2}${lineBreak}`, text2];
  });
}
function reindented(body) {
  return [
    // Without the lookbehind, a long run of spaces would take quadratic time.
    body.replaceAll(/(?<![ \t])[ \t]+$/gm, ""),
    ...["  ", "    "].flatMap((blanks) => [
      body.replaceAll(/^\t+/gm, (tabs) => blanks.repeat(tabs.length)),
      body.replaceAll(/^ +/gm, (indent) => indent.replaceAll(blanks, "	"))
    ])
  ];
}
var FILES = [...eventNames.map((name) => name.replaceAll(/[._]/g, "-")), ...eventNames].concat(
  "body data event events file hook input message payload request sample test webhook".split(" ")
);
var PATHS = ["", "./", "@", "@./", "/tmp/", "@/tmp/"].flatMap(
  (folder) => FILES.flatMap((name) => ["", ".json", ".txt"].map((end) => `${folder}${name}${end}`))
);
function* signedMessages(request, timestamps) {
  const { body } = request;
  const seen = new Set(isUtf82(body) ? [body.toString()] : []);
  for (const [mistake, messages] of candidates(request, timestamps)) {
    for (const message of messages) {
      if (typeof message === "string" ? seen.has(message) : body.equals(message)) continue;
      if (typeof message === "string") seen.add(message);
      yield { mistake, change: { message } };
    }
  }
}
function* candidates(request, inSignature) {
  const { body, headers } = request;
  const text2 = body.toString();
  const views = { body, latin1: body.toString("latin1"), text: text2 };
  for (const [mistake, make] of variantsIn(MESSAGES)) yield [mistake, make(views)];
  const { name, plain: plain2 } = compressionOf(body, headers) ?? {};
  if (name && plain2) yield [finding("compressed/afterwards", { name }), [plain2]];
  if (body.length > MAX_BYTES_FOR_ALL_VARIANTS) return;
  const tree = parseJson(text2.replace(/^\uFEFF/, ""));
  if (tree !== void 0) yield* otherJson(tree);
  const fields = tree === void 0 && /^[\w.[\]%-]+=/.test(text2) ? new URLSearchParams(text2).values() : [];
  yield [finding("form-encoded/value"), fields];
  yield [finding("html-escaped/signed"), htmlEscaped(text2)];
  yield [finding("html-escaped/unsigned"), [htmlUnescaped(text2)]];
  const inPayload = memberOf(tree, "timestamp")?.value ?? [];
  yield [finding("signed-with-timestamp"), withTimestamp(request, [inPayload, inSignature].flat())];
  yield [finding("signed-with-address"), withAddress(request)];
}
function* otherJson(tree) {
  if (tree.kind === "string") yield [finding("json-twice/sent"), [tree.value]];
  const written = writtenForms(tree);
  for (const [writer, text2] of written) yield [finding("json-reserialised", { writer }), [text2, `${text2}
`]];
  yield [finding("signed-python"), [writeJson(tree, pythonForm)]];
  const data = memberOf(tree, "data");
  if (data) yield [finding("signed-data-only"), [data.text, ...writtenForms(data).map(([, text2]) => text2)]];
  yield [finding("json-twice/both"), written.slice(0, 2).map(([, text2]) => JSON.stringify(text2))];
}
var writtenForms = (tree) => [
  ["JSON.stringify", JSON.stringify(JSON.parse(tree.text))],
  ...jsonForms.map(({ writer, form }) => [writer, writeJson(tree, form)])
];
var APOSTROPHES = ["'", "&#39;", "&#039;", "&#x27;", "&apos;"];
function htmlEscaped(text2) {
  const escaped = text2.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ['"', "&quot;", "&#34;"].flatMap(
    (quote) => APOSTROPHES.map((apostrophe) => escaped.replaceAll('"', quote).replaceAll("'", apostrophe))
  );
}
var htmlUnescaped = (text2) => text2.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll(/&(?:quot|#34);/g, '"').replaceAll(/&(?:apos|#0?39|#x27);/g, "'").replaceAll("&amp;", "&");
var TIMESTAMP_HEADER = /^(?:x-(?:(?:webhook|signature|request|slack-request)-)?timestamp|webhook-timestamp|date)$/i;
function* withTimestamp({ headers, body }, others) {
  const values = (name) => valuesOf(headers, name);
  const [id] = [...values("webhook-id"), ...values("svix-id")];
  const inHeaders = headers.filter(([name]) => TIMESTAMP_HEADER.test(name)).map(([, value]) => value);
  const times = /* @__PURE__ */ new Set([...others, ...inHeaders]);
  for (const time of [...times].slice(0, MAX_TIMESTAMPS)) {
    for (const sign2 of [".", ":", "", "\n", "|", ","]) {
      yield Buffer.concat([Buffer.from(`${time}${sign2}`), body]);
      yield Buffer.concat([body, Buffer.from(`${sign2}${time}`)]);
    }
    yield Buffer.concat([Buffer.from(`v0:${time}:`), body]);
    if (id !== void 0) yield Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  }
}
function* withAddress(request) {
  const { headers, method, path: path2, body } = request;
  const target = targetOf(request);
  const [host = ""] = valuesOf(headers, "host");
  const addresses = [path2, target, `http://${host}${target}`, `https://${host}${target}`];
  const starts = ["", `${method} `, method, `${method}
`];
  const beginnings = addresses.flatMap((address) => starts.map((start) => start + address));
  for (const beginning of /* @__PURE__ */ new Set([...beginnings, method])) {
    for (const sign2 of ["", "\n", ".", ":", " ", "|", "\n\n"]) {
      yield Buffer.concat([Buffer.from(`${beginning}${sign2}`), body]);
    }
    yield beginning;
  }
}

// tools/check-sender/http-findings.ts
var MAX_HEAD_BYTES = 10240;
function addressFindings({ method, path: path2, query, headers }) {
  if (path2 === REDIRECT_PATH) return [finding("redirect-followed")];
  const isEvent = ["content-type", "x-webhook-signature"].some((name) => valuesOf(headers, name).length > 0);
  const isRedirected = method === "GET" && isEvent;
  const atPath = query === "" ? [] : [finding("query")];
  return [
    ...method === "POST" ? [] : [finding(isRedirected ? "method/redirected" : "method", { method })],
    ...path2 === WEBHOOK_PATH ? atPath : [finding("path", { words: pathMistake(path2) })]
  ];
}
var PATH_MISTAKES = {
  "The path is missing: the request went to /": (path2) => path2 === "/",
  "The path ends with a slash": (path2) => path2 === `${WEBHOOK_PATH}/`,
  "The path has two slashes in a row": (path2) => path2.replaceAll(/\/{2,}/g, "/") === WEBHOOK_PATH,
  "The path has capital letters": (path2) => path2.toLowerCase() === WEBHOOK_PATH,
  "The path is URL-encoded": (path2) => path2.includes("%"),
  "The beginning of the path is missing": (path2) => WEBHOOK_PATH.endsWith(path2),
  "The end of the path is missing": (path2) => WEBHOOK_PATH.startsWith(path2),
  "Something precedes the path": (path2) => path2.endsWith(WEBHOOK_PATH),
  "Something follows the path": (path2) => path2.startsWith(WEBHOOK_PATH),
  "The path is almost correct": (path2) => nearest(path2, [WEBHOOK_PATH]) !== void 0
};
var pathMistake = (path2) => Object.entries(PATH_MISTAKES).find(([, isIt]) => isIt(path2))?.[0] ?? "The path is wrong";
function* transportFindings(request, secret, isAccepted) {
  const { method, headers, httpVersion } = request;
  if (method === "POST") yield* contentTypeFindings(request, isAccepted);
  const coding = valuesOf(headers, "content-encoding").join();
  if (COMPRESSION.test(coding))
    yield { ...finding("content-encoding"), grade: isAccepted ? "risky" : "wrong" };
  else if (!/^\s*(?:identity\s*)?$/i.test(coding)) yield finding("content-encoding-other");
  const place = secretPlace(request, secret);
  if (place !== void 0) yield finding("secret-sent", { place });
  const size = [method, targetOf(request), ...headers.map(([, value]) => value)].join("").length;
  if (size > MAX_HEAD_BYTES) yield finding("head-too-large", { size: `${size.toLocaleString("en")} bytes` });
  const version = /^\d\.\d$/.test(httpVersion) ? httpVersion : "?";
  if (httpVersion !== "1.1") yield finding("http-version", { version });
  const hosts = valuesOf(headers, "host").length;
  if (hosts !== 1) yield finding(hosts === 0 ? "host/missing" : "host");
  if (valuesOf(headers, "transfer-encoding").length > 0) yield finding("chunked");
  const expected = valuesOf(headers, "expect").map((value) => value.trim().toLowerCase());
  if (expected.some((value) => value !== "100-continue")) yield finding("expect-other");
  else if (expected.length > 0) yield finding("expect");
}
var COMPRESSION = /\b(?:gzip|deflate|compress|br|zstd)\b/i;
var OTHER_CHARSET = /;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i;
function* contentTypeFindings({ headers }, isAccepted) {
  const [value, ...others] = valuesOf(headers, "content-type");
  const type = value?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (value === void 0) yield finding("content-type-missing");
  else if (others.length > 0) yield finding("content-type-twice");
  else if (type === "application/x-www-form-urlencoded") {
    yield finding(isAccepted ? "content-type-form/accepted" : "content-type-form");
  } else if (type.startsWith("multipart/")) {
    yield { ...finding("content-type-multipart"), grade: isAccepted ? "risky" : "wrong" };
  } else if (type !== "application/json") yield finding("content-type-other");
  else if (OTHER_CHARSET.test(value)) yield finding("content-type-charset");
}
function secretPlace(request, secret) {
  const isIn = (text2) => containsSecret(text2, secret);
  if (isIn(targetOf(request))) return "the URL";
  if (request.headers.some(([, value]) => isIn(value))) return "a header";
  return isIn(request.body.toString()) ? "the body" : void 0;
}
var TLS_HANDSHAKE = 22;
var FRAMING_ERROR = /^HPE_(?:(?:UNEXPECTED|INVALID)_CONTENT_LENGTH|INVALID_TRANSFER_ENCODING|INVALID_CHUNK_SIZE|CHUNK_EXTENSIONS_OVERFLOW)$/;
var HEAD_ERROR = /^HPE_(?:INVALID_HEADER_TOKEN|CR_EXPECTED|LF_EXPECTED|INVALID_VERSION|INVALID_URL)$/;
var REQUEST_LINE = /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/;
function connectionFinding(broken) {
  const { code = "", packet = Buffer.alloc(0), bytes: bytes2, seconds: seconds2 } = broken;
  const isFraming = FRAMING_ERROR.test(code);
  const arrived = bytes2?.toLocaleString("en") ?? "";
  if (broken.isWholeBody && !isFraming) return finding("content-length-large", { bytes: arrived });
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return finding(bytes2 === void 0 ? "never-ended/headers" : "never-ended", { seconds: seconds2, bytes: arrived });
  }
  if (packet[0] === TLS_HANDSHAKE) return finding("tls");
  if (packet.subarray(0, 14).toString() === "PRI * HTTP/2.0") return finding("http-2");
  if (code === "HPE_HEADER_OVERFLOW") return finding("head-too-large", { size: "more than 16 KB" });
  if (isFraming) return finding("framing");
  if (bytes2 !== void 0) return finding("broken-off", { when: `after ${arrived} bytes of the body` });
  if (["", "ECONNRESET", "HPE_INVALID_EOF_STATE"].includes(code)) {
    return finding("broken-off", { when: "during the headers" });
  }
  if (HEAD_ERROR.test(code)) return finding("malformed-head");
  return finding(REQUEST_LINE.test(packet.toString("latin1")) ? "method/unknown" : "not-http");
}

// tools/terminal/text.ts
function counted(count, noun) {
  return count === 1 ? `1 ${noun}` : `${count.toLocaleString("en")} ${noun}s`;
}
function duration(milliseconds) {
  const seconds2 = Math.max(0, Math.round(milliseconds / 1e3));
  const parts = [
    [Math.floor(seconds2 / 86400), "d"],
    [Math.floor(seconds2 / 3600) % 24, "h"],
    [Math.floor(seconds2 / 60) % 60, "min"],
    [seconds2 % 60, "s"]
  ].map(([amount, unit]) => ({ amount, text: `${amount} ${unit}` }));
  const largest = parts.findIndex(({ amount }) => amount > 0);
  if (largest === -1) return "0 s";
  return parts.slice(largest, largest + 2).filter(({ amount }) => amount > 0).map(({ text: text2 }) => text2).join(" ");
}

// tools/check-sender/not-json.ts
var MAX_BYTES_READ = 64 * 1024;
var END_BYTES = 1024;
var TEXT_FORMATS = [
  [/^$/, "body-empty"],
  [/^--\S+\r?\n[\s\S]*content-disposition/i, "multipart"],
  [/^[\w.[\]%-]+=(?:[^{}]*(?:&|$)|%7B)/, "form-encoded"],
  [/^[\w.[\]%-]+=\s*[{[]/, "form-encoded"],
  [/^%7B/i, "body-url-escapes"],
  [/^\s*\{\s*&(?:quot|#34|#x22);/i, "html-escaped"],
  [/^\s*<(?:\?xml|!doctype|[a-z])/i, "body-xml"],
  [/^\s*(?:\[object \w+\]|undefined|None|nil)\s*$/, "body-no-value"]
];
var JSON_LIKE_FORMATS = [
  [/^\{ '|(?:^| )(?:None|True|False) [,}\]]/, "body-python"],
  [/ (?:NaN|-?Infinity) [,}\]]/, "body-nan"],
  [/=>/, "body-ruby"],
  [/^\{ [A-Za-z_]\w* :/, "body-bare-keys"],
  [/, [}\]]/, "body-trailing-comma"],
  [/^\{.*\} \{/, "body-several"],
  [/^\{(?:.*[^}])?$/, "body-cut"]
];
var isUtf16 = (body) => body.length > 1 && [65534, 65279].includes(body.readUInt16BE(0)) || body.length > 3 && (body[1] === 0 || body[0] === 0 && body[2] === 0);
function notJson(detail, body) {
  if (isUtf16(body)) return finding("body-utf-16");
  const compression = compressionOf(body, []);
  if (compression !== void 0) return finding("compressed", { name: compression.name });
  if (detail === "must be UTF-8") return finding("body-not-utf-8");
  const text2 = `${body.subarray(0, MAX_BYTES_READ)}${body.subarray(MAX_BYTES_READ).subarray(-END_BYTES)}`;
  const outline = outlineOf(text2);
  const [, name = "body-not-json"] = TEXT_FORMATS.find(([pattern]) => pattern.test(text2)) ?? JSON_LIKE_FORMATS.find(([pattern]) => pattern.test(outline)) ?? [];
  return finding(name);
}

// tools/check-sender/text-findings.ts
import { isUtf8 as isUtf83 } from "node:buffer";
var NEAR_LIMIT_BYTES = 4 * 1024 * 1024;
function* textFindings(body, tree) {
  if (body.length > NEAR_LIMIT_BYTES) yield finding("body-near-limit", { bytes: body.length });
  if (tree === void 0) return;
  const nodes = nodesIn(tree);
  if (nodes.some(hasKeyTwice)) yield finding("key-twice");
  if (nodes.some(isInexact)) yield finding("number-too-large");
  const [id] = idsWithoutValue(tree);
  if (id !== void 0) yield finding("id-without-value", { id });
  const texts = nodes.filter(({ kind }) => kind === "string").map(({ value }) => value);
  const placeholders = texts.flatMap((text2) => PLACEHOLDER.exec(text2) ?? []);
  const grade = placeholders.some((placeholder) => texts.includes(placeholder)) ? "wrong" : "risky";
  if (placeholders.length > 0) yield { ...finding("placeholder"), grade };
  if (texts.some((text2) => HTML_ENTITY.test(text2))) yield finding("html-entities");
  if (texts.some(isMojibake)) yield finding("mojibake");
  if (body.subarray(0, 3).equals(Buffer.from("\uFEFF"))) yield finding("bom");
}
var hasKeyTwice = ({ children }) => new Set(children.map(([key]) => key)).size < children.length;
var isInexact = ({ kind, text: text2 }) => kind === "literal" && /^-?\d+$/.test(text2) && !Number.isSafeInteger(Number(text2));
var ID_FIELDS = new Set(
  Object.values(catalogue).flatMap(
    ({ data }) => Object.keys(data.entries).filter((name) => name.endsWith("_id"))
  )
);
var idsWithoutValue = (tree) => [...ID_FIELDS].filter((name) => {
  const id = memberOf(memberOf(tree, "data"), name);
  return id?.kind === "string" && NO_VALUE.test(id.value);
});
var HTML_ENTITY = /&(?:[a-z][a-z\d]{1,9}|#\d{1,7}|#x[\da-f]{1,6});/i;
var WINDOWS_1252 = new TextDecoder("windows-1252").decode(
  Uint8Array.from({ length: 256 }, (_, byte) => byte)
);
function isMojibake(text2) {
  if (text2.includes("\uFFFD")) return true;
  if (!/[^\0-\x7F]/.test(text2)) return false;
  const byteOf = (character) => WINDOWS_1252.indexOf(character);
  const bytes2 = Array.from(text2, (sign2) => byteOf(sign2) === -1 ? sign2.charCodeAt(0) : byteOf(sign2));
  return bytes2.every((byte) => byte < 256) && isUtf83(Uint8Array.from(bytes2));
}

// tools/check-sender/payload-findings.ts
var MAX_BYTES_PARSED = 1024 * 1024;
var MAX_KEYS = 200;
var MIN_LETTERS_FOR_SLIP = 6;
var SYNONYMS = {
  event: "type event_type eventType event_name eventName kind topic action name",
  data: "payload body object attributes resource content event_data",
  timestamp: "time created_at createdAt occurred_at occurredAt date ts sent_at datetime",
  girl_id: "cast_id castId staff_id staffId member_id memberId",
  shop_id: "store_id storeId",
  review_id: "id",
  rating: "stars score",
  comment: "text message",
  updated_fields: "changed_fields changedFields",
  display_name: "nickname",
  profile_image_url: "image_url imageUrl avatar_url avatarUrl avatar"
};
var synonymIn = (keys, field) => SYNONYMS[field]?.split(" ").find((synonym) => keys.includes(synonym));
function payloadFindings(body, receivedAt) {
  const parsed = parsePayload(body);
  const text2 = body.toString().replace(/^\uFEFF/, "");
  const tree = body.length > MAX_BYTES_PARSED ? void 0 : parseJson(text2);
  const kind = parsed.kind === "unknown" ? parsed.event.event : kindIn(tree);
  const meant = kind === void 0 ? void 0 : eventNames.find((name) => isSlipOf(kind, name));
  const isNamed = memberOf(tree, "event")?.kind === "string" || parsed.kind === "unknown";
  const problems = parsed.kind === "unusable" ? [...parsed.problems] : [];
  if (meant !== void 0 && tree !== void 0) problems.push(...dataProblems(text2, meant, problems));
  const timestamp = memberOf(tree, "timestamp");
  return [
    ...isNamed ? kindFindings(kind ?? "", meant) : [],
    ...problems.map((problem) => problemFinding(problem, body, tree)),
    ...meant === void 0 ? [] : dataFindings(meant, memberOf(tree, "data"), problems),
    ...timestamp?.kind === "string" ? skewFindings(timestamp.value, receivedAt) : [],
    ...textFindings(body, tree)
  ];
}
function knownEvent(body) {
  const parsed = parsePayload(body);
  return parsed.kind === "event" ? parsed.event.event : void 0;
}
function kindIn(tree) {
  const nodes = `event ${SYNONYMS.event}`.split(" ").map((key) => memberOf(tree, key));
  const found = nodes[0] ?? nodes.find((node) => node?.kind === "string");
  return found?.kind === "string" ? found.value : void 0;
}
function dataProblems(text2, event7, known) {
  const parsed = parsePayload(Buffer.from(JSON.stringify({ ...JSON.parse(text2), event: event7 })));
  if (parsed.kind !== "unusable") return [];
  return parsed.problems.filter(({ field }) => known.every((problem) => problem.field !== field));
}
function kindFindings(kind, meant) {
  if (kind === "" || isEventName(kind)) return [];
  if (meant !== void 0) return [finding("event-misspelt", { meant })];
  const nearby = nearest(kind, eventNames);
  const near = nearby === void 0 ? "" : `; the most similar is ${nearby}`;
  return [finding("event-unknown", { near, events: eventNames.join(", ") })];
}
function problemFinding({ field, detail }, body, tree) {
  if (field === "body") return bodyFinding(detail, body, tree);
  if (tree === void 0) return finding("field-wrong/unread", { field, detail });
  const path2 = field.split(".");
  const parent = path2.slice(0, -1).reduce(memberOf, tree);
  const name = path2.at(-1) ?? "";
  const value = memberOf(parent, name);
  if (value === void 0) return missingFinding(field, name, parent, detail);
  if (field === "timestamp") return timestampFinding(value);
  if (field === "data" && value.kind === "string") {
    return finding(parseJson(value.value)?.kind === "object" ? "data-as-text/json" : "data-as-text");
  }
  if (value.text === '""') return finding("field-empty", { field });
  const expected = detail.replace(/^must be /, "");
  return finding("field-wrong", { field, detail, shape: shapeOf(value), expected });
}
function missingFinding(field, name, parent, detail) {
  const keys = parent?.children.map(([key]) => key) ?? [];
  const [, expected = "it is needed"] = /expected (.*)$/.exec(detail) ?? [];
  const synonym = synonymIn(keys, name);
  if (synonym !== void 0) return finding("field-misnamed/synonym", { field, expected, synonym });
  const isNear = keys.some((key) => nearest(key, [name]) !== void 0);
  return finding(isNear ? "field-misnamed" : "field-missing", { field, expected });
}
function bodyFinding(detail, body, tree) {
  if (tree === void 0 || detail !== "must be a JSON object") return notJson(detail, body);
  if (tree.kind === "array") return finding("json-array", { length: tree.children.length });
  if (tree.kind === "string" && parseJson(tree.value) !== void 0) return finding("json-twice");
  return finding("json-no-object", { shape: shapeOf(tree) });
}
function dataFindings(event7, data, problems) {
  if (data?.kind !== "object") return [];
  const schema = catalogue[event7].data;
  const fields = Object.keys(schema.entries);
  const sent = new Map(data.children);
  const { success, output } = safeParse(schema, JSON.parse(data.text));
  const used = success ? output : {};
  const others = [...sent.keys()].slice(0, MAX_KEYS).filter((key) => !fields.includes(key));
  const wrongFields = new Set(
    problems.flatMap(({ field }) => field.startsWith("data.") ? [field.split(".")[1]] : [])
  );
  const all = fields.filter((name) => !wrongFields.has(name)).flatMap((field) => {
    const value = sent.get(field);
    if (value === void 0) return misnamed(field, others);
    if (used[field] !== void 0 || wrongFields.size > 0 || value.text === '""') return [];
    return [finding("field-ignored", { field, shape: shapeOf(value) })];
  });
  if (all.length > 0 || wrongFields.size > 0 || fields.some((field) => sent.has(field))) return all;
  return [finding("data-unused", { event: event7, fields: fields.join(", ") })];
}
function misnamed(field, others) {
  const synonym = synonymIn(others, field);
  if (synonym !== void 0) return [finding("field-unread/synonym", { field, synonym })];
  const maxChanges = field.length < MIN_LETTERS_FOR_SLIP ? 0 : 1;
  return others.some((key) => isSlipOf(key, field, maxChanges)) ? [finding("field-unread", { field })] : [];
}
var CLOCK = String.raw`^\d{4}-?\d{2}-?\d{2}[Tt ]\d{2}(?::?\d{2}(?::?\d{2}(?:[.,]\d+)?)?)?`;
var TIMESTAMP_MISTAKES = [
  [/^$/, "timestamp-empty"],
  [/^\s|\s$/, "timestamp-white-space"],
  [/^-?\d+(?:\.\d+)?$/, "timestamp-number/quoted"],
  [`${CLOCK}$`, "timestamp-without-zone"],
  [/[Tt ]\d{2}:?\d{2}:?60/, "timestamp-leap-second"],
  [`${CLOCK}(?:[Zz]|[+-]00(?::?00)?)$`, "timestamp-no-moment"],
  [`${CLOCK}[+-]\\d{2}(?::?\\d{2})?$`, "timestamp-with-offset"],
  [/^\d{4}-\d{2}-\d{2}$/, "timestamp-date-only"],
  [/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/, "timestamp-of-http"]
];
function timestampFinding({ kind, value }) {
  if (kind === "literal") return finding(value === "null" ? "timestamp-missing" : "timestamp-number");
  if (kind !== "string") return finding("timestamp-other/type");
  const found = TIMESTAMP_MISTAKES.find(([pattern]) => new RegExp(pattern).test(value));
  return finding(found?.[1] ?? "timestamp-other");
}
function skewFindings(timestamp, receivedAt) {
  const normalised = normaliseTimestamp(timestamp);
  const skew = normalised === void 0 ? 0 : Date.parse(normalised) - receivedAt.getTime();
  if (Math.abs(skew) <= CLOCK_TOLERANCE) return [];
  const away = { duration: duration(Math.abs(skew)) };
  return [finding(skew < 0 ? "timestamp-past" : "timestamp-future", away)];
}

// tools/check-sender/service-answer.ts
import { STATUS_CODES } from "node:http";

// lambda/receiver/answers.ts
function answer(statusCode, contentType, body) {
  return {
    statusCode,
    headers: { "content-type": contentType },
    body: JSON.stringify(body)
  };
}
var accepted = (status, { eventId, requestId }) => answer(200, "application/json", { status, eventId, requestId });
var refused = (problem, requestId) => answer(problem.status, "application/problem+json", { ...problem, requestId });
var invalidSignature = {
  type: "urn:partner-webhooks:problem:invalid-signature",
  title: "Invalid signature",
  status: 401,
  detail: "X-Webhook-Signature is not the HMAC-SHA256 of the request body under the shared secret."
};
var unusableEvent = (errors) => ({
  type: "urn:partner-webhooks:problem:unusable-event",
  title: "Unusable event",
  status: 400,
  detail: `The payload was kept for review. ${describeProblems(errors)}.`,
  errors
});
var serverError = {
  type: "urn:partner-webhooks:problem:server-error",
  title: "Server error",
  status: 500,
  detail: "The event was not accepted. Send it again."
};

// lambda/receiver/request.ts
var SIGNATURE_HEADER = "x-webhook-signature";
function readRequest(event7) {
  const requestId = requestIdOf(event7);
  const body = Buffer.from(event7.body ?? "", event7.isBase64Encoded ? "base64" : "utf8");
  if (!isFormat1(event7)) {
    const { timeEpoch, http } = event7.requestContext;
    const signature = event7.headers[SIGNATURE_HEADER];
    return { requestId, receivedAt: timeEpoch, sourceIp: http.sourceIp, signature, body };
  }
  const { requestTimeEpoch, identity } = event7.requestContext;
  return {
    requestId,
    receivedAt: requestTimeEpoch,
    sourceIp: identity.sourceIp,
    signature: headerOf(event7, SIGNATURE_HEADER),
    body
  };
}
function requestIdOf(event7) {
  const { requestContext } = event7;
  return isFormat1(event7) ? event7.requestContext.extendedRequestId ?? "" : requestContext.requestId;
}
var isFormat1 = (event7) => "multiValueHeaders" in event7;
function headerOf({ multiValueHeaders }, name) {
  const values = Object.entries(multiValueHeaders ?? {}).flatMap(
    ([key, all = []]) => key.toLowerCase() === name ? all : []
  );
  return values.length === 0 ? void 0 : values.join(",");
}

// lambda/receiver/receive.ts
function createReceiver({ secrets, queues, identify, report, reportError }) {
  async function rejectionReason(request) {
    const signature = decodeSignature(request.signature);
    if (signature === void 0) return "malformed-signature";
    const matches = await secrets.matchesAny((accepted2) => verify(request.body, signature, accepted2));
    return matches ? void 0 : "wrong-signature";
  }
  async function receive(event7) {
    const request = readRequest(event7);
    const { requestId, body } = request;
    const eventId = sha256Hex(body);
    identify({ eventId, requestId });
    const reason = await rejectionReason(request);
    if (reason !== void 0) {
      await report({ outcome: REJECTED, reason }, request);
      return refused(invalidSignature, requestId);
    }
    const delivery = { eventId, requestId, receivedAt: new Date(request.receivedAt).toISOString() };
    const parsed = parsePayload(body);
    if (parsed.kind === "unusable") {
      await queues.quarantine(body, parsed.problems, delivery);
      await report({ outcome: UNUSABLE, fields: parsed.problems.map(({ field }) => field) }, request);
      return refused(unusableEvent(parsed.problems), requestId);
    }
    await queues.enqueue(parsed, body, delivery);
    if (parsed.kind === "unknown") {
      await report({ outcome: PARKED }, request);
      return accepted("parked", delivery);
    }
    await report(acceptedOutcome(parsed.event, request), request);
    return accepted("queued", delivery);
  }
  return async (event7) => {
    try {
      return await receive(event7);
    } catch (error) {
      await reportError(error);
      return refused(serverError, requestIdOf(event7));
    }
  };
}
function acceptedOutcome({ event: event7, timestamp }, { receivedAt }) {
  return { outcome: ACCEPTED, event: event7, lagMs: Math.max(0, receivedAt - Date.parse(timestamp)) };
}

// tools/check-sender/service-answer.ts
async function serviceAnswer(request, secret, failure) {
  let outcome;
  const receiver = createReceiver({
    secrets: { matchesAny: async (test) => failure !== 401 && test([secret]) },
    queues: { enqueue: async () => {
    }, quarantine: async () => {
    } },
    identify: () => {
      if (failure === 500) throw new Error("simulated");
    },
    report: async (reported) => {
      outcome = reported;
    },
    reportError: async () => {
    }
  });
  const api = httpApi({
    apiId: "checker",
    routes: [
      {
        routeKey: `POST ${WEBHOOK_PATH}`,
        invoke: async (event7) => ({ ok: true, payload: await receiver(event7) })
      }
    ]
  });
  const { response } = await api.answer(request, async () => request.isTooLarge ? void 0 : request.body);
  return { response, outcome };
}
async function failureAnswer(request, status) {
  if (status === 401 || status === 500) return (await serviceAnswer(request, "", status)).response;
  return {
    status,
    headers: { "content-type": "application/json", "apigw-requestid": shortId() },
    body: Buffer.from(JSON.stringify({ message: STATUS_CODES[status] }))
  };
}

// tools/check-sender/signature-findings.ts
var SHOWN_HEADER = "X-Webhook-Signature";
var OTHER_HEADERS = `
  X-Signature X-Signature-256 X-Signature-SHA256 X-Hub-Signature-256 X-Hub-Signature X-Webhook-Signature-256
  X-Webhook-Signature-SHA256 X-Webhook-Hmac-SHA256 X-Webhook-Hmac X-Hmac-Signature X-Hmac-SHA256
  X-Shopify-Hmac-SHA256 X-Partner-Signature X_Webhook_Signature HTTP_X_WEBHOOK_SIGNATURE Webhook-Signature
  Stripe-Signature Signature Content-Digest Digest Authorization
`.trim().split(/\s+/);
var UNNAMED_PLACES = ["another header", "the query string", "Content-Digest", "Digest"];
var MAX_BYTES_FOR_PAIRS = 32 * 1024;
var MAX_VALUE_LENGTH = 1024;
var MIN_CUT_BYTES = 8;
var SECRET_AS_SIGNATURE = finding("secret-sent/as-signature");
function signatureFindings(request, secret) {
  const values = valuesOf(request.headers, SHOWN_HEADER.toLowerCase()).map(readPart);
  const [value] = values;
  if (value === void 0) return findElsewhere(request, secret);
  const mistake = malformed(request, secret, values);
  if (mistake !== void 0) return [mistake];
  const explained = explain(request, secret, [value]);
  if (explained !== void 0) return explained.mistakes;
  return decodeSignature(value) === void 0 ? [finding("signature-malformed", { length: value.length })] : [finding("signature-other", { bytes: request.body.length })];
}
var readPart = (value) => value.slice(0, MAX_VALUE_LENGTH);
function malformed({ body }, secret, values) {
  const [value = ""] = values;
  if (values.length > 1) {
    const times = values.length === 2 ? "twice" : `${values.length} times`;
    const which = new Set(values).size === 1 ? "the same value" : "different values";
    return finding("signature-twice", { times, which });
  }
  if (value === "") return finding("signature-empty");
  if (NO_VALUE.test(value) || PLACEHOLDER.test(value)) return finding("signature-no-value");
  const text2 = value.replace(/^sha256=/, "");
  const bytes2 = Buffer.from(text2, /^(?:[0-9a-f]{2})+$/i.test(text2) ? "hex" : "base64");
  const right = hmacSha256(secret, body);
  const isCut = bytes2.length >= MIN_CUT_BYTES && bytes2.length < right.length;
  if (!isCut || !right.subarray(0, bytes2.length).equals(bytes2)) return void 0;
  return finding("signature-cut", { bytes: bytes2.length });
}
function findElsewhere(request, secret) {
  const inQuery = [...new URLSearchParams(request.query).values()];
  const places = [
    ...request.headers.map(([name, value]) => [shownName(name), value]),
    ...inQuery.map((value) => ["the query string", value])
  ];
  const explained = explain(
    request,
    secret,
    places.map(([, value]) => readPart(value))
  );
  const index = explained?.index ?? places.findIndex(([place2]) => !UNNAMED_PLACES.includes(place2));
  const [place] = places[index] ?? [];
  if (place === void 0) return [finding("signature-missing")];
  const { mistakes = [] } = explained ?? {};
  if (mistakes.includes(SECRET_AS_SIGNATURE))
    return [finding("signature-elsewhere/secret", { place }), ...mistakes];
  const content = explained === void 0 ? "something similar is" : "the signature is";
  return [finding("signature-elsewhere", { content, place }), ...mistakes];
}
var shownName = (header) => OTHER_HEADERS.find((known) => known.toLowerCase() === header.toLowerCase()) ?? "another header";
function explain(request, secret, values) {
  const leaked = values.findIndex((value) => isSecret(value, secret));
  if (leaked !== -1) return { index: leaked, mistakes: [SECRET_AS_SIGNATURE] };
  const all = values.flatMap((value, index) => readings(value).map((reading) => ({ index, ...reading })));
  const byDigest = new Map(all.reverse().map((reading) => [reading.digest.toString("hex"), reading]));
  if (byDigest.size === 0) return void 0;
  for (const [digest, mistakes] of computations(request, secret, values.flatMap(timestampsIn))) {
    const reading = byDigest.get(digest.toString("hex"));
    if (reading === void 0) continue;
    const { index } = reading;
    const isRead = digest.length !== 32 || decodeSignature(values[index]) !== void 0;
    const spelling = reading.mistake ?? (isRead ? [] : finding("signature-spelling"));
    return { index, mistakes: [mistakes, spelling].flat() };
  }
  return void 0;
}
function* computations(request, secret, timestamps) {
  const { body, earlier = [] } = request;
  const right = { message: body, key: secret, compute: hmacSha256 };
  const computation = (...variants) => {
    const { message, key, compute } = Object.assign({}, right, ...variants.map(({ change }) => change));
    return [compute(key, message), variants.map(({ mistake }) => mistake)];
  };
  yield computation();
  const likely = [];
  const counts = /* @__PURE__ */ new Map();
  for (const variant of variantsOf(request, secret, timestamps)) {
    yield computation(variant);
    const { kind } = variant.mistake;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (body.length <= MAX_BYTES_FOR_PAIRS && count <= maxInPairs(variant)) likely.push(variant);
  }
  for (const digest of earlier) yield [digest, [finding("signed-event-before")]];
  for (const [index, first] of likely.entries()) {
    for (const second of likely.slice(index + 1)) {
      const [part = ""] = Object.keys(first.change);
      if (!(part in second.change)) yield computation(first, second);
    }
  }
}
function* variantsOf(request, secret, timestamps) {
  yield* signedMessages(request, timestamps);
  yield* signingVariants(secret);
}
var maxInPairs = ({ change }) => "message" in change ? 10 : "key" in change ? 2 : 4;

// tools/check-sender/diagnose.ts
var GRADES = ["wrong", "risky", "fine"];
var WORDS = { [ACCEPTED]: "queued", [PARKED]: "parked" };
async function diagnose(request, answer2, secret, rest = Buffer.alloc(0)) {
  const { status } = answer2.response;
  const isAccepted = status === 200;
  const isCut = rest.length > 0 && !isAccepted;
  const whole = isCut ? { ...request, body: Buffer.concat([request.body, rest]) } : request;
  const wholeAnswer = isCut ? await serviceAnswer(whole, secret) : answer2;
  const causes = await causesOf(whole, wholeAnswer, secret);
  const isSecretFound = causes.some(({ kind }) => kind === "secret-sent");
  const transport = [...transportFindings(whole, secret, wholeAnswer.response.status === 200)];
  const findings = [...causes, ...transport.filter(({ kind }) => !isSecretFound || kind !== "secret-sent")];
  const hasLength = valuesOf(request.headers, "content-length").length > 0;
  const small = hasLength ? "content-length-small" : "content-length-small/missing";
  return {
    status,
    word: isAccepted ? WORDS[answer2.outcome?.outcome ?? ""] : void 0,
    event: isAccepted ? knownEvent(request.body) : void 0,
    eventId: request.isTooLarge ? void 0 : sha256Hex(request.body),
    findings: [
      ...rest.length > 0 ? [finding(small)] : [],
      ...GRADES.flatMap((grade) => findings.filter((finding2) => finding2.grade === grade))
    ]
  };
}
async function causesOf(request, answer2, secret) {
  const { body, headers, receivedAt } = request;
  const address = addressFindings(request);
  if (request.isTooLarge || answer2.response.status === 413) return [...address, finding("body-too-large")];
  const outcome = answer2.outcome ?? await outcomeAtAddress(request, secret);
  if (outcome === void 0) return address;
  if (outcome.outcome !== "Rejected") return [...address, ...payloadFindings(body, receivedAt)];
  const values = valuesOf(headers, "x-webhook-signature");
  const signature = decodeSignature(values[0]);
  const isCompressed = compressionOf(body, headers) !== void 0;
  if (values.length === 1 && signature !== void 0 && verify(body, signature, [secret])) {
    return [...address, finding(isCompressed ? "compressed/signed" : "body-not-utf-8/gateway")];
  }
  const causes = signatureFindings(request, secret);
  const next = isCompressed ? [] : payloadFindings(body, receivedAt);
  const isHidden = ({ grade, kind }) => grade === "wrong" && causes.every((cause) => cause.kind !== kind);
  return [...address, ...causes, ...next.filter(isHidden).map((finding2) => ({ ...finding2, isNext: true }))];
}
async function outcomeAtAddress(request, secret) {
  if (request.body.length === 0) return void 0;
  return (await serviceAnswer({ ...request, method: "POST", path: WEBHOOK_PATH }, secret)).outcome;
}

// tools/check-sender/repeats.ts
var MAX_WAIT = 60 * 60 * 1e3;
var JITTER = 0.25;
var SHRINKING = (1 - JITTER) / (1 + JITTER);
var GROWING = 1.1;
var MIN_COMPARED_WAIT = 500;
var CLOCK_ERROR = 100;
function* repeatFindings(delivery, attempt) {
  const index = delivery.attempts.indexOf(attempt);
  const repeat = repeatsOf(delivery)[index - 1];
  if (repeat === void 0 || !attempt.isSameSignature) return;
  const { before, isOwnWait, isStorm, longestBefore } = repeat;
  const how = before.end?.how;
  const wait = seconds(repeat.wait);
  const longest = seconds(longestBefore ?? 0);
  const trend = trendOf(repeat);
  const asked = retryAfter(before);
  const isFirst = isOwnWait && isAnswered(before) && longestBefore === void 0;
  yield finding("repeat", { index, delivery: delivery.number, wait, ending: endingText(how) });
  if (how === 200) yield finding("repeat-after-200");
  if (how === 400) yield finding("repeat-after-400");
  if (how === void 0) yield finding("repeat-while-under-way");
  if (isFirst && repeat.wait < FIRST_WAIT_SECONDS * 1e3 * (1 - JITTER))
    yield finding("repeat-early", { wait });
  if (isStorm) yield finding("repeat-storm", { wait });
  if (trend === "shrinking") yield finding("repeat-sooner", { wait, longest });
  if (trend === "steady") yield finding("repeat-steady", { wait, longest });
  if (repeat.wait < asked - CLOCK_ERROR) {
    yield finding("retry-after-ignored", { missing: seconds(asked - repeat.wait), asked: seconds(asked) });
  }
  if (!attempt.isSameBytes && before.status === 200 && hasFailed(before)) yield finding("repeat-changed");
}
function repeatsOf({ attempts }) {
  let longestBefore;
  let isQuickBefore = false;
  return attempts.slice(1).map(({ at, earliest }, index) => {
    const previous = attempts[index];
    const ended = previous.end?.at ?? at;
    const isParallel = earliest < ended && at - ended < MIN_COMPARED_WAIT;
    const before = isParallel ? { ...previous, end: void 0 } : previous;
    const wait = before.end === void 0 ? 0 : Math.max(0, at - before.end.at);
    const isFree = hasFailed(before) && retryAfter(before) === 0;
    const isQuick = isFree && wait < MIN_COMPARED_WAIT;
    const isOwnWait = isFree && (isAnswered(before) || !isQuick);
    const repeat = { before, wait, isStorm: isQuick && isQuickBefore, isOwnWait, longestBefore };
    isQuickBefore = isQuick;
    if (isOwnWait) longestBefore = Math.max(wait, longestBefore ?? 0);
    return repeat;
  });
}
function trendOf({ wait, isOwnWait, longestBefore = 0 }) {
  if (!isOwnWait || longestBefore < MIN_COMPARED_WAIT) return void 0;
  if (wait < longestBefore * SHRINKING) return "shrinking";
  return wait < Math.min(longestBefore * GROWING, MAX_WAIT * (1 - JITTER)) ? "steady" : "growing";
}
var isAnswered = ({ end }) => typeof end?.how === "number";
var hasFailed = ({ end }) => end !== void 0 && end.how !== 200 && end.how !== 400;
var retryAfter = ({ end }) => (end?.retryAfterSeconds ?? 0) * 1e3;
var patienceFinding = (milliseconds) => finding(milliseconds < GATEWAY_TIMEOUT_SECONDS * 1e3 ? "gave-up-early" : "gave-up", {
  wait: seconds(milliseconds)
});
function repeatReport(delivery) {
  const { number: number2, eventId, event: event7, attempts } = delivery;
  const repeats = repeatsOf(delivery);
  const trends = repeats.map(trendOf);
  return {
    delivery: number2,
    eventId,
    event: event7,
    requests: attempts.length,
    endings: attempts.map(({ end }) => end?.how),
    /** Milliseconds from the end of each request to the beginning of the next. */
    waits: repeats.map(({ wait }) => Math.round(wait)),
    /** The worst trend of the waits. */
    backOff: ["shrinking", "steady", "growing"].find((trend) => trends.includes(trend)),
    isSameBytes: attempts.every(({ isSameBytes }) => isSameBytes),
    isSameSignature: attempts.every(({ isSameSignature }) => isSameSignature),
    /** Number of requests on a connection that had been used before. */
    reused: attempts.filter(({ isReused }) => isReused).length
  };
}
function endingText(ending) {
  if (ending === void 0) return "The previous request had no answer yet.";
  if (ending === "cut") return "The previous request was cut.";
  if (ending === "gave up") return "The sender gave up on the previous request.";
  return `The previous request got ${ending}.`;
}
var seconds = (milliseconds) => `${(milliseconds / 1e3).toFixed(milliseconds < 1e4 ? 1 : 0)} s`;

// tools/check-sender/request-under-way.ts
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
var NO_METHOD = /* @__PURE__ */ new Set(["HPE_INVALID_METHOD", "HPE_INVALID_CONSTANT"]);
var MAX_REST_BYTES = 1024 * 1024;
var REST_WAIT_MILLISECONDS = 100;
var OVERLAP_BYTES = 64;
var RequestUnderWay = class {
  number;
  start = performance.now();
  /** Number of bytes of the body that have arrived. */
  bytes = 0;
  isRead = false;
  isReported = false;
  message;
  response;
  #chunks = [];
  #packets = Buffer.alloc(0);
  /** Number of bytes of the first invalid packet that were valid. */
  #parsed = 0;
  constructor(number2, message, response) {
    this.number = number2;
    this.message = message;
    this.response = response;
  }
  /**
   * Reads the body up to API Gateway's limit. Further bytes are counted and dropped, so that the sender still
   * gets an answer.
   * @throws Error if the sender disconnects
   */
  async read() {
    const request = requestOf(this.message, 0);
    await new Promise((resolve, reject) => {
      this.message.on("data", (chunk) => {
        this.bytes += chunk.length;
        if (this.isTooLarge) {
          this.#chunks.length = 0;
          resolve();
        } else this.#chunks.push(chunk);
      });
      this.message.on("end", resolve);
      this.message.on("error", reject);
      this.message.on("close", () => reject(new Error("broken off")));
    });
    this.isRead = true;
    return { ...request, isTooLarge: this.isTooLarge, body: Buffer.concat(this.#chunks) };
  }
  get isTooLarge() {
    return this.bytes > BODY_LIMIT_BYTES;
  }
  /** Whether the body so far is a JSON object, and therefore not truncated. */
  get isWhole() {
    const parsed = parsePayload(Buffer.concat(this.#chunks));
    return parsed.kind !== "unusable" || parsed.problems[0].field !== "body";
  }
  /**
   * Stores bytes that Node.js could not parse.
   * @returns whether they came after this request
   */
  addRest({ code = "", rawPacket, bytesParsed = 0 }) {
    if (!NO_METHOD.has(code) || rawPacket === void 0 || !this.message.complete) return false;
    if (this.#packets.length === 0) this.#parsed = bytesParsed;
    if (this.#packets.length + rawPacket.length <= MAX_REST_BYTES) {
      this.#packets = Buffer.concat([this.#packets, rawPacket]);
    }
    return true;
  }
  /** If the body looks truncated, waits a moment for its rest. */
  async waitForRest() {
    if (!this.isWhole) await sleep(REST_WAIT_MILLISECONDS);
  }
  /** The bytes after the body. If they came in a packet with the body's end, the body's part is removed. */
  restBehind(body) {
    const packets = this.#packets;
    const end = body.length === 0 ? Buffer.from("\r\n\r\n") : body.subarray(-OVERLAP_BYTES);
    const at = packets.lastIndexOf(end, this.#parsed);
    if (at !== -1) return packets.subarray(at + end.length);
    for (let length = Math.min(this.#parsed, end.length); length > 0; length -= 1) {
      if (packets.subarray(0, length).equals(end.subarray(-length))) return packets.subarray(length);
    }
    return packets;
  }
  /** @returns when the answer is sent, or the client has disconnected */
  async answer({ status, headers, body }, { cut }) {
    const { response } = this;
    const { socket } = this.message;
    if (response.destroyed || socket.destroyed) return "gave up";
    const closed = once(response, "close");
    if (cut === "before") socket.destroy();
    else response.writeHead(status, { ...headers, "content-length": body.length });
    if (cut === "within")
      response.write(body.subarray(0, Math.ceil(body.length / 2)), () => socket.destroy());
    if (cut === void 0) response.end(body);
    await closed;
    if (cut !== void 0) return "cut";
    return response.writableFinished ? status : "gave up";
  }
};

// tools/check-sender/sent-deliveries.ts
var MAX_DELIVERIES = 1e4;
var MAX_ATTEMPTS = 1e3;
var MAX_BYTES_PARSED2 = 256 * 1024;
var SentDeliveries = class {
  #all = [];
  #count = 0;
  /** Records a request that has no answer yet. */
  record(observed, { body, headers }) {
    const eventId = sha256Hex(body);
    const signature = sha256Hex(valuesOf(headers, "x-webhook-signature").join(","));
    const keys = keysOf(eventId, body);
    const found = this.#find(keys);
    const [first] = found?.attempts ?? [];
    const isOther2 = first?.eventId !== eventId || first.signature !== signature;
    const isCorrected = isOther2 && found?.attempts.every(({ status }) => status !== 200);
    const delivery = found === void 0 || isCorrected ? this.#add(eventId, keys, found) : found;
    const before = delivery.attempts.find((attempt2) => attempt2.eventId === eventId);
    const isSameSignature = before === void 0 || before.signature === signature;
    const isSameBytes = eventId === delivery.eventId;
    const attempt = { ...observed, eventId, isSameBytes, signature, isSameSignature, end: void 0 };
    if (observed.status === 200) delivery.event ??= knownEvent(body);
    if (delivery.attempts.length < MAX_ATTEMPTS) delivery.attempts.push(attempt);
    return { delivery, attempt };
  }
  /** Deliveries in the order of their first requests. */
  all() {
    return this.#all.map(({ delivery }) => delivery);
  }
  #find(keys) {
    for (const key of keys) {
      const delivery = this.#all.findLast((known) => known.keys.includes(key))?.delivery;
      const ending = delivery?.attempts.at(-1)?.end?.how;
      const isRefused = ending !== void 0 && ending !== 200;
      if (delivery !== void 0 && (isRefused || !key.startsWith(VALUES))) return delivery;
    }
    return void 0;
  }
  /** @param corrected the rejected delivery that the new delivery corrects */
  #add(eventId, keys, corrected) {
    const corrects = corrected === void 0 ? 0 : corrected.corrects + corrected.attempts.length;
    this.#count += 1;
    const delivery = { number: this.#count, eventId, event: void 0, attempts: [], corrects };
    this.#all = this.#all.filter((known) => known.delivery !== corrected).slice(1 - MAX_DELIVERIES);
    this.#all.push({ delivery, keys });
    return delivery;
  }
};
var VALUES = "values ";
function keysOf(eventId, body) {
  const bytes2 = `bytes ${eventId}`;
  if (body.length > MAX_BYTES_PARSED2) return [bytes2];
  const sent = objectIn(body.toString());
  const meant = sent ?? meantObject(body);
  const data = memberOf(meant, "data");
  const values = JSON.stringify([valuesIn(memberOf(meant, "event")), valuesIn(data).sort()]);
  return [
    bytes2,
    ...sent === void 0 ? [] : [`content ${sha256Hex(writeJson(sent, canonicalForm))}`],
    ...data === void 0 ? [] : [`${VALUES}${sha256Hex(values)}`]
  ];
}
function objectIn(text2) {
  const tree = parseJson(text2.replace(/^\uFEFF/, ""));
  return tree?.kind === "object" ? tree : void 0;
}
function meantObject(body) {
  const tree = parseJson(body.toString());
  if (tree?.kind === "string") return objectIn(tree.value);
  const plain2 = compressionOf(body, [])?.plain;
  if (plain2 !== void 0) return plain2.length > MAX_BYTES_PARSED2 ? void 0 : objectIn(plain2.toString());
  return textsInUtf16(body).map(objectIn).find((found) => found !== void 0);
}
function valuesIn(node) {
  return (node === void 0 ? [] : nodesIn(node)).filter(({ kind, text: text2 }) => ["string", "literal"].includes(kind) && text2 !== "null").map(({ value }) => value);
}

// tools/check-sender/checker.ts
var TIMEOUT_CHECK_MILLISECONDS = 500;
var KEEP_ALIVE_MILLISECONDS = 65e3;
var MAX_EARLIER_SIGNATURES = 50;
var DROP_NOTICE_MILLISECONDS = 6e4;
var GATEWAY_TIMEOUT_MILLISECONDS = GATEWAY_TIMEOUT_SECONDS * 1e3;
var Checker = class _Checker {
  #options;
  #requestTimeout;
  #deliveries = new SentDeliveries();
  #connections = /* @__PURE__ */ new WeakMap();
  #closing = new AbortController();
  /** HMACs of the bodies of earlier events. */
  #earlier = [];
  #servers = [];
  #requestCount = 0;
  #connectionCount = 0;
  #nextDropNotice = 0;
  port = 0;
  /** @throws Error of Node.js, such as EADDRINUSE if the port is in use */
  static async start(options) {
    const checker = new _Checker(options);
    await checker.#listen();
    return checker;
  }
  constructor(options) {
    this.#options = options;
    this.#requestTimeout = options.requestTimeoutMilliseconds ?? 3e4;
  }
  deliveries() {
    return this.#deliveries.all();
  }
  async close() {
    this.#closing.abort();
    const closed = this.#servers.map((server) => once2(server.close(), "close"));
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.all(closed);
  }
  async #listen() {
    const { port: port2, host, maxConnections = 2e3, onNotice } = this.#options;
    const serve = (message, response) => void this.#serve(message, response);
    const settings = {
      requestTimeout: this.#requestTimeout,
      headersTimeout: this.#requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_MILLISECONDS,
      keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
      requireHostHeader: false
    };
    const listening = await listen(settings, serve, { port: port2, host });
    this.port = listening.port;
    this.#servers = listening.servers;
    for (const server of this.#servers) {
      server.maxConnections = maxConnections;
      server.on("drop", () => {
        if (performance.now() < this.#nextDropNotice) return;
        this.#nextDropNotice = performance.now() + DROP_NOTICE_MILLISECONDS;
        onNotice(`More than ${maxConnections} connections at the same time: further ones are rejected.`);
      });
      server.on("connection", (socket) => this.#connectionOf(socket));
      server.on("checkExpectation", serve);
      server.on("connect", (_, socket) => {
        socket.on("error", () => {
        });
        socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n");
        this.#report(this.#connectionOf(socket), void 0, { findings: [finding("method/connect")] });
      });
      server.on("clientError", (error, socket) => this.#refuse(error, socket));
    }
  }
  #connectionOf(socket) {
    const known = this.#connections.get(socket);
    if (known !== void 0) return known;
    this.#connectionCount += 1;
    const number2 = this.#connectionCount;
    const connection = { number: number2, openedAt: performance.now(), requests: 0, current: void 0 };
    this.#connections.set(socket, connection);
    return connection;
  }
  async #serve(message, response) {
    const connection = this.#connectionOf(message.socket);
    connection.requests += 1;
    this.#requestCount += 1;
    const current = new RequestUnderWay(this.#requestCount, message, response);
    connection.current = current;
    try {
      const sent = await current.read();
      const checked = await this.#check({ ...sent, earlier: [...this.#earlier] }, current, connection);
      this.#report(connection, current, { at: sent.receivedAt, method: sent.method, ...checked });
    } catch (error) {
      response.destroy();
      if (current.isReported || this.#closing.signal.aborted) return;
      if (!message.complete) return this.#reportBroken(connection, current);
      const name = error instanceof Error ? error.name : "an error without a name";
      this.#options.onNotice(`Request ${current.number} could not be checked: ${name}`);
    }
  }
  async #check(sent, current, connection) {
    const { secret, steps = [] } = this.#options;
    const { start } = current;
    if (sent.body.length > 0) this.#earlier.push(hmacSha256(secret, sent.body));
    if (this.#earlier.length > MAX_EARLIER_SIGNATURES) this.#earlier.shift();
    const own = await serviceAnswer(sent, secret);
    const { status } = own.response;
    const isReused = connection.requests > 1;
    const earliest = isReused ? start : connection.openedAt;
    const recorded = own.outcome && this.#deliveries.record({ at: start, earliest, status, isReused }, sent);
    const repeats = recorded === void 0 ? [] : [...repeatFindings(recorded.delivery, recorded.attempt)];
    const attempt = recorded?.delivery.attempts.length ?? 0;
    const step = steps[Math.min(attempt, steps.length) - 1] ?? {};
    const { ending, rest, retryAfterSeconds } = await this.#reply(sent, own.response, step, current);
    if (connection.current === current) connection.current = void 0;
    if (recorded !== void 0)
      recorded.attempt.end = { how: ending, at: performance.now(), retryAfterSeconds };
    const hasGivenUp = ending === "gave up" && !this.#closing.signal.aborted;
    const patience = hasGivenUp ? [patienceFinding(performance.now() - start)] : [];
    const diagnosis = await diagnose(sent, own, secret, rest);
    const findings = [...diagnosis.findings, ...repeats, ...patience];
    if (recorded === void 0) return { ...diagnosis, ending, findings };
    const { number: number2, corrects } = recorded.delivery;
    const corrected = attempt === 1 && status === 200 ? corrects : 0;
    return { ...diagnosis, ending, findings, delivery: number2, attempt, corrects: corrected };
  }
  /** @returns how the request ended, and the bytes after it that are not a request */
  async #reply(sent, own, step, current) {
    if (own.status !== 200) await current.waitForRest();
    if (current.restBehind(sent.body).length > 0) current.response.shouldKeepAlive = false;
    const answer2 = await this.#answerOf(step, own, sent, current.response);
    const ending = await current.answer(answer2, step);
    const rest = current.restBehind(sent.body);
    if (rest.length > 0) current.message.socket.destroySoon();
    return { ending, rest, retryAfterSeconds: Number(answer2.headers["retry-after"] ?? 0) };
  }
  /**
   * The answer to send: the service's own, or that of the step. An answer that takes longer than API Gateway's timeout
   * becomes a 503.
   */
  async #answerOf({ status, headers, delayMilliseconds }, own, sent, response) {
    if (status !== void 0) {
      const answer2 = await failureAnswer(sent, status);
      return { ...answer2, headers: { ...answer2.headers, ...headers } };
    }
    if (delayMilliseconds === void 0) return own;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    const milliseconds = Math.min(delayMilliseconds, GATEWAY_TIMEOUT_MILLISECONDS);
    await sleep2(milliseconds, void 0, { signal }).catch(() => {
    });
    return delayMilliseconds > GATEWAY_TIMEOUT_MILLISECONDS ? failureAnswer(sent, 503) : own;
  }
  #refuse(error, socket) {
    const connection = this.#connectionOf(socket);
    if (connection.current?.addRest(error)) return;
    const current = connection.current?.isRead === false ? connection.current : void 0;
    const isReset = error.code === "ECONNRESET";
    const isSilent = socket.bytesRead === 0 || isReset && connection.requests > 0;
    if (socket.writable && !isReset) {
      const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request";
      socket.end(`HTTP/1.1 ${status}\r
Connection: close\r
\r
`);
    }
    socket.destroy();
    if (current?.isReported || current === void 0 && isSilent || this.#closing.signal.aborted) return;
    if (current !== void 0) current.isReported = true;
    this.#reportBroken(connection, current, error);
  }
  /** Reports an incomplete request, or bytes that are not a request. */
  #reportBroken(connection, current, error) {
    const broken = connectionFinding({
      code: error?.code,
      packet: error?.rawPacket,
      bytes: current?.bytes,
      isWholeBody: current?.isWhole === true,
      seconds: this.#requestTimeout / 1e3
    });
    this.#report(connection, current, { findings: [broken] });
  }
  #report(connection, current, checked) {
    if (current === void 0) this.#requestCount += 1;
    this.#options.onVerdict({
      request: current?.number ?? this.#requestCount,
      at: /* @__PURE__ */ new Date(),
      bytes: current?.bytes ?? 0,
      ending: "gave up",
      milliseconds: current === void 0 ? 0 : Math.round(performance.now() - current.start),
      connection: connection.number,
      isReused: connection.requests > 1,
      findings: [],
      ...checked
    });
  }
};

// tools/check-sender/tally.ts
import { styleText as styleText2 } from "node:util";

// tools/terminal/layout.ts
var import_string_width = __toESM(require_string_width(), 1);
function lines(text2, width) {
  if (!Number.isFinite(width)) return [text2];
  const words = text2.trimStart().split(" ");
  const indent = " ".repeat(text2.length - text2.trimStart().length);
  const all = [];
  let line;
  for (const word of words) {
    const longer = line === void 0 ? `${indent}${word}` : `${line} ${word}`;
    if (line !== void 0 && (0, import_string_width.default)(longer) > width) {
      all.push(line);
      line = `${indent}${word}`;
    } else {
      line = longer;
    }
  }
  return [...all, line ?? ""];
}

// tools/check-sender/verdict.ts
import { styleText } from "node:util";

// tools/terminal/terminal.ts
import { createInterface } from "node:readline/promises";

// tools/terminal/command-error.ts
var USAGE_ERROR = 2;

// tools/terminal/terminal.ts
var SHORT_ID_LENGTH = 8;
function screenWidth(stream = process.stdout) {
  return stream.isTTY ? stream.columns : Number.POSITIVE_INFINITY;
}
var INTERRUPTED = 130;
var SECOND_INTERRUPTION = 1e3;
function interruption() {
  const controller = new AbortController();
  let first;
  const interrupt = () => {
    first ??= Date.now();
    controller.abort();
    if (Date.now() - first >= SECOND_INTERRUPTION) process.exit(INTERRUPTED);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, interrupt);
  return controller.signal;
}

// tools/check-sender/verdict.ts
var isRight = ({ findings }) => findings.every(({ grade }) => grade !== "wrong");
var MAX_FINDINGS = 5;
var INDENT = 9;
var GRADES2 = {
  wrong: { word: "wrong", style: "red" },
  risky: { word: "risky", style: "yellow" },
  fine: { word: "note", style: "dim" }
};
function verdictText(verdict, width) {
  const shown = verdict.findings.slice(0, MAX_FINDINGS);
  const more = verdict.findings.length - shown.length;
  return [
    headline(verdict),
    ...shown.flatMap((finding2) => findingText(finding2, width)),
    ...more > 0 ? [`${" ".repeat(INDENT)}and ${more} more: --json shows all`] : []
  ];
}
function headline(verdict) {
  const { request, at, status, event: event7, eventId, bytes: bytes2, method = "", ending } = verdict;
  const own = verdict.word === void 0 ? String(status) : `${status} ${verdict.word}`;
  const parts = [
    event7 ?? "",
    method === "POST" ? "" : method,
    `${bytes2.toLocaleString("en")} ${bytes2 === 1 ? "byte" : "bytes"}`,
    eventId === void 0 ? "" : `event ${eventId.slice(0, SHORT_ID_LENGTH)}`,
    isOther(verdict) ? `the service would answer ${own}` : ""
  ];
  const sent = isOther(verdict) ? ending === "gave up" ? "no answer" : `${ending} simulated` : own;
  const { style, text: text2 } = stateOf(verdict);
  return [
    styleText(style, text2.padEnd("\u2713 accepted".length)),
    styleText("bold", (status === void 0 ? "no request" : sent).padEnd("200 queued".length)),
    styleText("dim", `#${request}  ${at.toISOString().slice(11, 19)}`),
    parts.filter((part) => part !== "").join(" \xB7 ")
  ].join("  ");
}
function stateOf(verdict) {
  const { status, findings } = verdict;
  if (status === void 0) return { style: "red", text: "\u2717 broken" };
  if (status !== 200) return { style: "red", text: "\u2717 rejected" };
  if (!isRight(verdict)) return { style: "red", text: isOther(verdict) ? "\u2717 wrong" : "\u2717 accepted" };
  const isRisky = findings.some(({ grade }) => grade === "risky");
  const state = isOther(verdict) ? "right" : "accepted";
  return isRisky ? { style: "yellow", text: `! ${state}` } : { style: "green", text: `\u2713 ${state}` };
}
var isOther = ({ status, ending }) => status !== void 0 && ending !== status;
function findingText({ grade, what, remedy, isNext = false }, width) {
  if (grade === "fine") return gradedText(grade, what, width).map((line) => styleText("dim", line));
  const all = gradedText(grade, isNext ? `After you fix the signature: ${what}` : what, width);
  return remedy === void 0 ? all : [...all, ...indented(`\u2192 ${remedy}`, width)];
}
function gradedText(grade, text2, width) {
  const { word, style } = GRADES2[grade];
  const [first = "", ...others] = indented(text2, width);
  return [`  ${styleText(style, word.padEnd(INDENT - 2))}${first.trimStart()}`, ...others];
}
var indented = (text2, width) => lines(text2, Math.max(20, width - INDENT)).map((line) => `${" ".repeat(INDENT)}${line}`);
function verdictJson(verdict) {
  return JSON.stringify({ isRight: isRight(verdict), ...verdict });
}

// tools/check-sender/tally.ts
var MAX_SHOWN = 8;
var MAX_REPEATS = 20;
var Tally = class {
  #statuses = {};
  #mistakes = /* @__PURE__ */ new Map();
  #right = 0;
  #corrected = 0;
  requests = 0;
  add(verdict) {
    this.requests += 1;
    if (isRight(verdict)) {
      this.#right += 1;
      this.#corrected += verdict.corrects ?? 0;
    }
    const status = verdict.status ?? "none";
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    const mistakes = new Map(
      verdict.findings.map((finding2) => [`${finding2.kind} ${finding2.what.replaceAll(/\d+/g, "0")}`, finding2])
    );
    for (const [key, { grade, kind, what }] of mistakes) {
      if (grade === "fine") continue;
      const { count, requests } = this.#mistakes.get(key) ?? { count: 0, requests: [] };
      const named = [...requests, verdict.request].slice(0, MAX_SHOWN);
      this.#mistakes.set(key, { grade, kind, what, count: count + 1, requests: named });
    }
  }
  /**
   * @param isCut whether `--requests` or `--timeout` ended the run, so that further retries may have been
   * missed
   */
  summary(deliveries, isCut = false) {
    return {
      requests: this.requests,
      /** Number of requests without a mistake. */
      right: this.#right,
      /** Number of rejected requests that were corrected later. */
      corrected: this.#corrected,
      /** Number of requests whose event the service would accept, whatever answer was simulated. */
      accepted: this.#statuses[200] ?? 0,
      /** Number of requests by status of the service's own answer. */
      statuses: this.#statuses,
      /** Mistakes, the worst and most frequent first. */
      mistakes: [...this.#mistakes.values()].sort(
        (a, b) => Number(a.grade === "risky") - Number(b.grade === "risky") || b.count - a.count
      ),
      repeats: deliveries.filter(({ attempts }) => attempts.length > 1).map(repeatReport),
      /** Number of deliveries that should have been retried and were not. */
      unrepeated: deliveries.filter((delivery) => wantsRepeat(delivery, isCut)).length,
      isCut
    };
  }
};
function wantsRepeat({ attempts }, isCut) {
  const answered = attempts.filter(({ end }) => end !== void 0);
  return answered.every(hasFailed) && !(isCut && answered.length < attempts.length);
}
var isRightInAll = ({ requests, right, corrected, unrepeated }) => requests > 0 && right + corrected === requests && unrepeated === 0;
var hasNoWarning = ({ mistakes }) => mistakes.every(({ grade }) => grade !== "risky");
function summaryText(summary, width) {
  const { requests, accepted: accepted2, mistakes, repeats, unrepeated } = summary;
  if (requests === 0) return ["No request arrived."];
  const text2 = `${outcomeText(summary)}.`;
  const outcome = isRightInAll(summary) ? styleText2("green", `\u2713 ${text2}`) : styleText2("red", `\u2717 ${text2}`);
  const statuses = Object.entries(summary.statuses).map(
    ([status, count]) => `${status === "none" ? "no request" : status} \xD7${count.toLocaleString("en")}`
  );
  const more = repeats.length - MAX_REPEATS;
  const all = unrepeated === 1 ? "1 delivery" : `${unrepeated.toLocaleString("en")} deliveries`;
  const late = summary.isCut ? "had not been sent again when the run ended" : "was never sent again";
  return [
    `${outcome}  ${accepted2.toLocaleString("en")} accepted \xB7 ${statuses.join(" \xB7 ")}`,
    ...mistakes.flatMap(({ grade, what, count, requests: requests2 }) => {
      const numbers = requests2.map((number2) => `#${number2}`);
      return gradedText(grade, `${what} (${counted(count, "request")}: ${listed(numbers, count)})`, width);
    }),
    ...repeats.slice(0, MAX_REPEATS).flatMap((report) => lines(repeatText(report), width)),
    ...more > 0 ? [`and ${more} more: --json shows all`] : [],
    ...unrepeated === 0 ? [] : [`${all} should have been repeated after the last answer, but ${late}.`]
  ];
}
function outcomeText(summary) {
  const { requests, right, corrected } = summary;
  const wrong = requests - right;
  const all = requests === 1 ? "The request was" : `All ${requests.toLocaleString("en")} requests were`;
  const some = `${wrong.toLocaleString("en")} of ${counted(requests, "request")} ${wrong === 1 ? "was" : "were"}`;
  const later = corrected === wrong ? "corrected" : `${corrected.toLocaleString("en")} of them corrected`;
  return [
    wrong === 0 ? `${all} right` : `${some} wrong`,
    ...corrected === 0 ? [] : [`${later} later`],
    ...corrected === wrong && !isRightInAll(summary) ? ["not always repeated when required"] : []
  ].join(", and ");
}
function repeatText(report) {
  const { delivery, requests, endings, waits, backOff, isSameBytes, isSameSignature, reused } = report;
  const answers = listed(endings.map((ending) => String(ending ?? "no answer yet")));
  return [
    `Delivery ${delivery}: answers ${answers}`,
    `waits ${listed(waits.map(seconds))}${backOff === void 0 ? "" : ` (${backOff})`}`,
    isSameBytes ? "same bytes" : styleText2("yellow", "changed bytes"),
    isSameSignature ? "same signature" : "changed signature",
    reused === 0 ? "a new connection each time" : `${reused} of ${requests} requests on a reused connection`
  ].join("; ");
}
function listed(words, count = words.length) {
  const shown = words.slice(0, MAX_SHOWN);
  return [...shown, ...count > shown.length ? [`\u2026 ${count - shown.length} more`] : []].join(", ");
}

// tools/terminal/command.ts
function hookctlCommand(name, description) {
  return new Command(name).description(description).helpOption("-h, --help", "show this help").configureOutput({ outputError: (text2, write) => write(`${inOneLine(text2)}
`) }).exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR));
}
function inOneLine(text2) {
  const line = text2.trim().replace(/^error: /, "").replaceAll("\n", " ");
  return line.charAt(0).toUpperCase() + line.slice(1);
}

// tools/terminal/options.ts
function wholeNumber(minimum, maximum = Number.MAX_SAFE_INTEGER) {
  const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
  return (text2) => {
    const value = Number(text2);
    if (/^(0|[1-9]\d*)$/.test(text2) && value >= minimum && value <= maximum) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}
var port = wholeNumber(0, 65535);
function nonEmptySecret(text2) {
  if (text2 === "")
    throw new InvalidArgumentError("It must not be empty: anybody could sign with an empty secret.");
  return text2;
}
var MAX_SEED = 2 ** 31 - 1;

// tools/commands/check-sender.ts
var DEFAULT_PORT = 8080;
var MAX_TIMEOUT = 24 * 60 * 60;
var WRONG = 1;
var USAGE = 2;
var command = hookctlCommand(
  "check-sender",
  "For partners: listens for deliveries, checks each one, and names the likely mistake."
).option("--port <port>", "port to listen on; 0 picks a free one", port, DEFAULT_PORT).option("--host <address>", "address to listen on, such as 0.0.0.0 (default: this machine only)").addOption(
  new Option("--secret <secret>", "required: secret that signs deliveries").env("WEBHOOK_SECRET").argParser(nonEmptySecret)
).option(
  "--play <steps>",
  "answers to the attempts of each delivery; the last one repeats: ok, 401, 429, 500, 502, 503, 504, retry-after=20s, redirect, slow=35s, cut (no answer), cut-late (half an answer)",
  parseSteps
).option("--requests <n>", "stop after this many requests (default: Ctrl-C)", wholeNumber(1)).option("--timeout <seconds>", "stop after this time (default: never)", wholeNumber(1, MAX_TIMEOUT)).option("--strict", "exit code 1 also if anything is risky").option("--json", "print a line of JSON for each request, and one for the summary").exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE)).addHelpText("after", ({ command: command2 }) => {
  const typed = command2.name().includes(" ") ? command2.name() : `npx hookctl ${command2.name()}`;
  return `
Examples:
  ${typed} --secret 'our shared secret'
  ${typed} --play 500,500,ok        # how does it repeat?
  ${typed} --play slow=35s          # how long does it wait for an answer?
  ${typed} --requests 1 --timeout 60 --strict  # for CI

Send to http://localhost:${DEFAULT_PORT}${WEBHOOK_PATH}. It stores nothing.`;
}).action(async ({ port: port2, host, secret, play, requests, timeout, strict = false, json }) => {
  if (secret === void 0) {
    usage("Set the secret that signs deliveries: --secret, or the variable WEBHOOK_SECRET");
  }
  process.stdout.on("error", endWithReader);
  const interrupted = interruption();
  const tally = new Tally();
  const done = new AbortController();
  interrupted.addEventListener("abort", () => done.abort());
  const checker = await Checker.start({
    secret,
    port: port2,
    host,
    steps: play ?? [],
    onNotice: console.error,
    onVerdict: (verdict) => {
      if (tally.requests === requests) return;
      tally.add(verdict);
      const lines2 = json ? [verdictJson(verdict)] : verdictText(verdict, screenWidth());
      console.log((lines2.length > 1 ? ["", ...lines2] : lines2).join("\n"));
      if (tally.requests === requests) done.abort();
    }
  }).catch((error) => usage(listenProblem(error, port2, host)));
  console.error(welcome(checker.port, host, secret));
  if (timeout !== void 0) setTimeout(() => done.abort(), timeout * 1e3).unref();
  if (!done.signal.aborted) await once3(done.signal, "abort");
  const isComplete = requests === void 0 || tally.requests === requests;
  const summary = tally.summary(checker.deliveries(), !interrupted.aborted);
  await checker.close();
  console.log(json ? JSON.stringify({ summary }) : ["", ...summaryText(summary, screenWidth())].join("\n"));
  if (!isComplete) console.error(`Only ${tally.requests} of ${counted(requests, "request")} arrived.`);
  const isRight2 = isRightInAll(summary) && isComplete;
  const isClean = !strict || hasNoWarning(summary);
  if (isRight2 && !isClean) console.error("Exit code 1, because --strict counts risky as wrong.");
  process.exitCode = isRight2 && isClean ? 0 : WRONG;
});
var PASTED = "The secret begins or ends with white space, which is used as part of it. Was it pasted?";
var NOT_REPLACED = "The secret looks like a variable that was not replaced, such as $WEBHOOK_SECRET. Check the quotation marks.";
function welcome(port2, host = "localhost", secret) {
  const address = `http://${host.includes(":") ? `[${host}]` : host}:${port2}${WEBHOOK_PATH}`;
  return [
    `Send to ${address}. Ctrl-C ends it. The real service only accepts https://.`,
    ...secret === secret.trim() ? [] : [PASTED],
    ...PLACEHOLDER.test(secret) ? [NOT_REPLACED] : [],
    ...host === "localhost" ? [] : ["Anyone who reaches this address can send to it. Nothing is stored."]
  ].join("\n");
}
function listenProblem(error, port2, host) {
  const { code = "" } = error;
  if (code === "EADDRINUSE")
    return `Port ${port2} is in use. Stop what uses it, or choose another with --port`;
  if (code === "EACCES")
    return `Port ${port2} needs administrator rights. Choose a port from 1024 on with --port`;
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN"].includes(code)) {
    return `${JSON.stringify(host)} is not an address of this machine. Try --host 0.0.0.0`;
  }
  throw error;
}
function usage(line) {
  console.error(line);
  process.exit(USAGE);
}
function endWithReader(error) {
  if (error.code !== "EPIPE") throw error;
  process.exit();
}

// check-sender.ts
await command.name("node check-sender.mjs").parseAsync();

/*! partner-webhooks

MIT License

Copyright (c) 2026 The partner-webhooks authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/

/*! ansi-regex

MIT License

Copyright (c) Sindre Sorhus <sindresorhus@gmail.com> (sindresorhus.com)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! commander

(The MIT License)

Copyright (c) 2011 TJ Holowaychuk <tj@vision-media.ca>

Permission is hereby granted, free of charge, to any person obtaining
a copy of this software and associated documentation files (the
'Software'), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be
included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED 'AS IS', WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT.
IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT,
TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! emoji-regex

Copyright Mathias Bynens <https://mathiasbynens.be/>

Permission is hereby granted, free of charge, to any person obtaining
a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to
permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be
included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND,
EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION
OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION
WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! is-fullwidth-code-point

MIT License

Copyright (c) Sindre Sorhus <sindresorhus@gmail.com> (sindresorhus.com)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! string-width

MIT License

Copyright (c) Sindre Sorhus <sindresorhus@gmail.com> (sindresorhus.com)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! strip-ansi

MIT License

Copyright (c) Sindre Sorhus <sindresorhus@gmail.com> (sindresorhus.com)

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/

/*! valibot

MIT License

Copyright (c) Fabian Hiller

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
