/** `String.prototype.isWellFormed` (ES2024), which Node has and some runtimes lack. */
interface MaybeWellFormed {
  isWellFormed?(): boolean;
}

const hasNative = typeof (String.prototype as MaybeWellFormed).isWellFormed === 'function';

/**
 * Whether a string is free of lone surrogates. One with them has no UTF-8, and encoders replace them all by the
 * same U+FFFD: different strings would get the same digest.
 */
export const isWellFormed: (text: string) => boolean = hasNative
  ? (text) => (text as string & Required<MaybeWellFormed>).isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);
