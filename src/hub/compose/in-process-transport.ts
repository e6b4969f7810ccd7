import type { Handler, Transport } from '../../core/http.ts'

/** A transport to a handler of this process, as a caller whom the transport has proven. */
export function inProcessTransport(
  handle: Handler,
  user: { readonly commonName: string; readonly organizations: readonly string[] },
): Transport {
  const caller = { user: user.commonName, groups: [...user.organizations, 'system:authenticated'] }
  return (request, signal) => handle(request, caller, signal)
}
