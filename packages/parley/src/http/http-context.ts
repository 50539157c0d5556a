import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';

type Http = NonNullable<ServerContext['http']>;

/**
 * `ctx.http` of an exchange. The request is built when somebody looks at it: few do, and it costs as much as a whole
 * answer.
 *
 * A class, because an accessor in an object literal gets a hidden class of its own, which keeps all that the accessor
 * closes over until a full garbage collection: measured, the whole request.
 */
export class HttpContext {
  /** One accessor for all, and each object's own: `{ ...ctx.http }` has it, as under the SDK's entry. */
  static readonly #REQ: PropertyDescriptor = {
    enumerable: true,
    configurable: true,
    get(this: HttpContext): Request {
      return this.#request();
    },
  };

  declare readonly authInfo?: AuthInfo;
  /** The request, without its body. */
  declare readonly req: Request;
  readonly closeSSE: Http['closeSSE'];
  readonly closeStandaloneSSE: Http['closeStandaloneSSE'];
  readonly #request: () => Request;

  constructor(
    { closeSSE, closeStandaloneSSE }: Http,
    authInfo: AuthInfo | undefined,
    request: () => Request,
  ) {
    if (authInfo !== undefined) this.authInfo = authInfo;
    this.closeSSE = closeSSE;
    this.closeStandaloneSSE = closeStandaloneSSE;
    this.#request = request;
    Object.defineProperty(this, 'req', HttpContext.#REQ);
  }
}
