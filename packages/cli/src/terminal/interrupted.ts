/** The person pressed Ctrl-C a second time: they want out, whatever the server makes of it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('Interrupted.');
  }
}
