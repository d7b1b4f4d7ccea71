const steering = String.raw`\p{Cc}\p{Zl}\p{Zp}`;
const unseen = String.raw`\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}`;

/** A picture that there is: code points that are only reserved for one are seen as nothing, or as a box. */
const picture = String.raw`[\p{Extended_Pictographic}--\p{C}]`;
/** Joiners and selectors that make one picture of what stands around them. */
export const joinsPicture = String.raw`(?<=${picture}[\p{Emoji_Modifier}\ufe0f]{0,2})\u200d(?=${picture})|(?<=${picture})[\ufe0e\ufe0f]|(?<=[0-9#*])\ufe0f(?=\u20e3)`;
/** Joiners within a word of a script that needs them, such as Persian. */
const otherLetter = String.raw`[[\p{L}\p{M}]--\p{Script=Latin}]`;
const joinsWord = String.raw`(?<=${otherLetter})[\u200c\u200d](?=${otherLetter})`;

/** Ends or steers a line: control characters and separators of lines, blanks such as tab and line feed among them. */
export const steeringCharacter = new RegExp(`[${steering}]`, "gv");

/** Is not seen, or turns the direction of text around: bidi controls, blanks of no width, fillers, selectors, tags. */
export const unseenCharacter = new RegExp(`[${unseen}]`, "gv");

/**
 * Either of both, but for what joins a picture: what must not reach a terminal, a log, a path or the name of a file as
 * it is. These are the only definitions of such characters here.
 */
export const hiddenCharacter = new RegExp(`(?!${joinsPicture})[${steering}${unseen}]`, "gv");

/** The same for texts that models read, in which words may be joined, too. */
export const hiddenInProse = new RegExp(`(?!${joinsPicture}|${joinsWord})[${steering}${unseen}]`, "gv");
