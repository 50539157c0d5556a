/** A terminal with a person before it. */
export interface Terminal {
  readonly input: NodeJS.ReadStream;
  /** Where questions are drawn. A terminal, as `input` is. */
  readonly output: NodeJS.WriteStream;
  /** Opens a page in the person's browser. Called after their consent only. Rejects when nothing could be started. */
  readonly openUrl: (url: string) => Promise<void>;
}
