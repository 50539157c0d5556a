import type { Client } from '@modelcontextprotocol/client';

/** The methods of all that a connected client sends from now on, in order. Answers have none. */
export function methodsOf({ transport }: Client): (string | undefined)[] {
  const methods: (string | undefined)[] = [];
  if (transport === undefined) throw new Error('not connected');
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    methods.push('method' in message ? message.method : undefined);
    return send(message, options);
  };
  return methods;
}
