/** The exit codes of the answerer. */
export const EXIT = {
  /** It is answered, or settled; or listed. */
  done: 0,
  /** Another answerer was quicker. Nothing was sent. */
  taken: 3,
  /** The server took it up no more. Nothing was done. */
  expired: 4,
  /** It was sent, and nobody knows what came of it. */
  unclear: 5,
} as const;
